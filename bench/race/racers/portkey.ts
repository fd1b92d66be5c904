import { join } from "node:path";
import { freePort } from "../../../test/support/ports.js";
import type { Racer, Track } from "../racer.js";
import { installPeers, peersFolder } from "./peer-packages.js";
import { startPeer } from "./peer-process.js";

const fallbackMs = 10_000;
/** Its own for a time limit and for a guardrail that said no, and what engines and providers send. */
const failures = [408, 429, 446, 500, 502, 503, 504, 529];
/** An answer in one piece that has no text is none, whatever its status says. Of a stream guardrails see nothing. */
const hasText = { output_guardrails: [{ "default.notNull": { failOnError: true }, deny: true }] };

export const portkey: Racer = {
  name: "portkey",
  what:
    "@portkey-ai/gateway's Node server, two processes: the primary (several nodes by loadbalance, twice), then the fallback, by status; a " +
    "request_timeout for streams and one for answers in one piece; a guardrail against answers without text",
  available: installPeers,
  start: async (track) => {
    const port = await freePort();
    return await startPeer(port, {
      name: "Portkey's gateway",
      program: process.execPath,
      args: [join(peersFolder, "portkey.mjs"), `--port=${port}`, "--headless"],
      cwd: track.folder,
      environment: { NODE_ENV: "production", RACE_CONFIG: JSON.stringify(configOf(track)) },
    });
  },
};

/** A request_timeout ends with the headers, so that a stream's and a whole answer's are not the same. */
function configOf(track: Track): object {
  return {
    strategy: {
      mode: "conditional",
      // biome-ignore lint/suspicious/noThenProperty: their config's own word, and never awaited
      conditions: [{ query: { "params.stream": { $eq: true } }, then: "streamed" }],
      default: "whole",
    },
    targets: [
      { name: "streamed", ...tiers(track, { request_timeout: track.limits.firstTokenMs }) },
      { name: "whole", ...tiers(track, { request_timeout: track.limits.answerMs, ...hasText }) },
    ],
  };
}

function tiers({ nodes, fallback }: Track, limits: object): object {
  const target = (port: number): object => ({
    provider: "openai",
    api_key: "none",
    custom_host: `http://127.0.0.1:${port}/v1`,
  });
  const primary = {
    ...limits,
    ...(nodes.length === 1
      ? target(nodes[0] ?? 0)
      : {
          strategy: { mode: "loadbalance" },
          targets: nodes.map((port) => ({ ...target(port), weight: 1 })),
        }),
  };
  const paid = {
    ...target(fallback),
    request_timeout: fallbackMs,
    retry: { attempts: 1, on_status_codes: [429, 500, 502, 503, 504] },
  };
  return {
    strategy: { mode: "fallback", on_status_codes: failures },
    // With several nodes a second draw comes before the paid tier.
    targets: nodes.length === 1 ? [primary, paid] : [primary, primary, paid],
  };
}
