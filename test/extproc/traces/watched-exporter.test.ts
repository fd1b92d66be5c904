import assert from "node:assert/strict";
import { test } from "node:test";
import { WatchedExporter } from "../../../extproc/traces/watched-exporter.js";

test("a collector that takes every other batch is told of once a minute", () => {
  const lines: string[] = [];
  let now = 0;
  let error: Error | undefined;
  const inner = {
    export: (_spans: unknown, done: (result: { code: number; error?: Error }) => void) =>
      done(error === undefined ? { code: 0 } : { code: 1, error }),
    shutdown: () => Promise.resolve(),
  };
  const log = {
    warn: ({ reason }: { reason: string }) => void lines.push(reason),
    info: () => void lines.push("again"),
  };
  const exporter = new WatchedExporter(inner, "http://c/v1/traces", log as never, () => now);
  const send = (problem?: string) => {
    error = problem === undefined ? undefined : new Error(problem);
    exporter.export([], () => {});
  };
  for (now = 0; now < 50_000; now += 1000) send(now % 2000 === 0 ? "Bad Gateway" : undefined);
  assert.deepEqual(lines, ["Bad Gateway", "again"]);
  now = 60_000;
  send("x".repeat(1000));
  send("x");
  assert.deepEqual(lines.slice(2), ["x".repeat(200)]);
  send();
  assert.equal(lines.at(-1), "again");
});
