import assert from "node:assert/strict";
import { STREAMS } from "../corpus/answers.js";
import { FilterParsers } from "../support/filter-parsers.js";
import { cutAnywhere } from "../support/pieces.js";
import type { Random } from "../support/random.js";
import { sizeClass } from "../support/told.js";
import type { Session, Target } from "../target.js";

const BOM = Buffer.from("\ufeff").toString("latin1");

class SseSession implements Session {
  private readonly parsers = new FilterParsers();

  run(bytes: Buffer, random: Random): string {
    const whole = this.read([bytes]);
    assert.equal(this.read(cutAnywhere(bytes, random)), whole, "cut otherwise it tells something else");
    // Envoy's buffers are not longer than they are, so a byte order mark that is cut short is told in another way.
    const text = bytes.toString("latin1");
    if (!/^(\xef(?!\xbb\xbf)|\xef\xbb(?!\xbf))/.test(text))
      assert.equal(whole, plainly(text), "it is framed otherwise");
    return whole === ""
      ? ""
      : `${whole.split("\x01").length},${whole.split("\0").length},${sizeClass(whole.length)}`;
  }

  memoryBytes(): number {
    return this.parsers.byteLength;
  }

  private read(pieces: readonly Buffer[]): string {
    this.parsers.call.sseReset?.();
    let written = 0;
    for (const piece of pieces) written = this.parsers.ask("sseFeed", piece);
    return this.parsers.room(written).toString("latin1");
  }
}

/** The same by WHATWG HTML, 9.2.6, word for word, and by the field `error` of old llama.cpp. */
function plainly(text: string): string {
  const lines = (text.startsWith(BOM) ? text.slice(BOM.length) : text).split(/\r\n|\n|\r/);
  const last = lines.pop() ?? "";
  let told = "";
  let hasData = false;
  for (const [index, line] of [...lines, last].entries()) {
    const isOpen = index === lines.length;
    if (line === "") {
      if (hasData && !isOpen) told += "\x01";
      if (!isOpen) hasData = false;
      continue;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? undefined : line.slice(colon + 1);
    if (name !== "data" && name !== "error") continue;
    if (value === undefined) {
      // A line without a colon has no value, and begins no piece of data.
      if (name === "data" && !isOpen) hasData = true;
    } else if (!isOpen || value !== "") {
      told += `\0${value.replace(/^ /, "")}`;
      hasData = true;
    }
  }
  return told;
}

export const filterSse: Target = {
  name: "filter-sse",
  parsers: ["filter/bytes/sse.ts", "filter/bytes/scan.ts"],
  seeds: [...STREAMS, "data\n\ndata:\n\ndata: a\n\n", ":c\nid: 1\nretry: 5\nevent: x\ndata:a\n\n"].map(
    (text) => Buffer.from(text),
  ),
  words: ["data", "data:", "data: ", "event:", "error:", "error: ", ":", "\r\n", "\n\n", "\r\r", "\ufeff"],
  maxBytes: 1024,
  open: () => new SseSession(),
};
