import { Decompress } from "fzstd";
import { serveJobs } from "../threads/serve-jobs.js";
import type { ZstdJob, ZstdReply } from "./zstd.js";

/** Stops the decoder in the middle of its work. */
class TooLarge extends Error {}

function decode({ bytes, maxBytes }: ZstdJob): ZstdReply {
  const pieces: Uint8Array[] = [];
  let total = 0;
  const decompress = new Decompress((piece) => {
    total += piece.length;
    if (total > maxBytes) throw new TooLarge();
    pieces.push(piece);
  });
  try {
    decompress.push(bytes, true);
  } catch (cause) {
    if (cause instanceof TooLarge) return { kind: "tooLarge" };
    throw cause;
  }
  const whole = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return { kind: "plain", bytes: whole };
}

serveJobs(decode, (reply) => (reply.kind === "plain" ? [reply.bytes.buffer] : []));
