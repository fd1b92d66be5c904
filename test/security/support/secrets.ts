import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One of each kind that there is, none like another. */
export const SECRETS = {
  "a caller's key": "CANARYcallerkey4711x01",
  "a caller's second key": "CANARYcallerapikey4711x02",
  "a caller's cookie": "CANARYcookie4711x03",
  "a key in a query": "CANARYqueryke4711x04",
  "a prompt": "CANARYprompt4711x05",
  "an answer": "CANARYanswer4711x06",
  "an error's text": "CANARYerrortext4711x07",
  "a backend's key": "CANARYbackendkey4711x08",
  "an operator's token": "CANARYcontroltoken4711x09",
  "the gateways' token": "CANARYsynctoken4711x10",
  "the members' key": "CANARYpeerskey4711x11-0123456789abcdef",
  "the webhook's secret": "CANARYwebhooksecret4711x12-0123456789",
  "the webhook's address": "CANARYwebhookpath4711x13",
  "the webhook's header": "CANARYwebhookheader4711x14",
  "the collector's key": "CANARYcollectorkey4711x15",
  "an engine's token": "CANARYenginetoken4711x16",
  "Redis's password": "CANARYredispassword4711x17",
} as const;

/** Files that hold them, and the settings that name these. */
export class SecretFiles {
  readonly folder = mkdtempSync(join(tmpdir(), "llm-breaker-secrets-"));

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Settings of a service that has them all. `ports`: whom it calls, and where it is called. */
  settings(ports: {
    readonly webhook: number;
    readonly collector: number;
    readonly redis: number;
    readonly engine: number;
  }): Record<string, unknown> {
    const redis = `redis://user:${SECRETS["Redis's password"]}@127.0.0.1:${ports.redis}`;
    const bearer = (secret: string) => `authorization: Bearer ${secret}\n`;
    return {
      control: { tokenFile: this.write("control", `ada:${SECRETS["an operator's token"]}\n`) },
      sync: { tokenFile: this.write("sync", SECRETS["the gateways' token"]) },
      peers: { keyFile: this.write("peers", SECRETS["the members' key"]), redis: { url: redis } },
      limits: { tokensPerMinute: 100_000, concurrent: 50, redis: { url: redis } },
      webhooks: [
        {
          urlFile: this.write(
            "webhook",
            `http://127.0.0.1:${ports.webhook}/${SECRETS["the webhook's address"]}`,
          ),
          secretFile: this.write("secret", SECRETS["the webhook's secret"]),
          headersFile: this.write("headers", bearer(SECRETS["the webhook's header"])),
        },
      ],
      traces: {
        endpoint: `http://127.0.0.1:${ports.collector}`,
        headersFile: this.write("collector", bearer(SECRETS["the collector's key"])),
      },
      signals: {
        backends: {
          gpu: {
            metrics: `http://127.0.0.1:${ports.engine}/metrics`,
            bearerTokenFile: this.write("engine", SECRETS["an engine's token"]),
          },
        },
      },
    };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
