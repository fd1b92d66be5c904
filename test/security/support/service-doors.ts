import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/ports.js";
import { type RunningService, startService } from "../../support/service.js";

export const CONTROL_TOKEN = "a-control-token.0123456789+/=";
export const SYNC_TOKEN = "a-sync-token_ABCDEFGHIJ";

/** The service as a process, with its two HTTP doors. */
export class Doors {
  private constructor(
    readonly service: RunningService,
    readonly admin: string,
    readonly http: string,
    private readonly folder: string,
  ) {}

  /** `isLocked`: both doors want a token. */
  static async open(isLocked: boolean): Promise<Doors> {
    const folder = mkdtempSync(join(tmpdir(), "llm-breaker-doors-"));
    const [control, sync] = [join(folder, "control"), join(folder, "sync")];
    writeFileSync(control, `ada:${CONTROL_TOKEN}\n`);
    writeFileSync(sync, SYNC_TOKEN);
    const [grpc, http, admin] = [await freePort(), await freePort(), await freePort()];
    const listen = { grpc: `127.0.0.1:${grpc}`, http: `127.0.0.1:${http}`, admin: `127.0.0.1:${admin}` };
    const locks = isLocked ? { control: { tokenFile: control }, sync: { tokenFile: sync } } : {};
    const service = await startService({ config: { listen, ...locks }, httpPort: http });
    return new Doors(service, `http://127.0.0.1:${admin}`, `http://127.0.0.1:${http}`, folder);
  }

  async close(): Promise<void> {
    await this.service.stop();
    rmSync(this.folder, { recursive: true });
  }
}

export interface Knock {
  readonly method: string;
  readonly target: string;
  /** Lines, as they stand on the wire. */
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

/** A request as bytes, with a length for its body and nothing else of its own but a host. */
export function bytesOf({ method, target, headers = [], body = "" }: Knock, host: string): Buffer {
  const named = headers.some((line) => /^host:/i.test(line)) ? [] : [`host: ${host}`];
  const sized = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line))
    ? []
    : [`content-length: ${Buffer.byteLength(body)}`];
  const head = [`${method} ${target} HTTP/1.1`, ...named, "connection: close", ...sized, ...headers, "", ""];
  return Buffer.concat([Buffer.from(head.join("\r\n"), "latin1"), Buffer.from(body)]);
}

/** `work` for each of `items`, some at once. */
export async function forEachOf<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      await work(items[index] as Item, index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
