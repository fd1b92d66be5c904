import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { type Logger, pino } from "pino";
import { QueueWatch } from "../../../extproc/signals/queue-watch.js";
import { waitFor } from "../../support/wait-for.js";

const closers: (() => void)[] = [];
after(() => {
  for (const close of closers) close();
});

/** An engine whose page is what it is told to be. */
class Engine {
  asked = 0;
  private readonly server = createServer((_request, response) => {
    this.asked++;
    if (this.page === "error") response.writeHead(500).end("down");
    else if (this.page !== "hang") response.end(this.page);
  });

  constructor(public page: string) {}

  async watch(log: Logger, now?: () => number): Promise<QueueWatch> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    const metrics = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/metrics`;
    const watch = new QueueWatch({ period: 20, backends: { gpu: { metrics, longQueue: 8 } } }, log, now);
    closers.push(() => {
      watch.close();
      this.server.closeAllConnections();
      this.server.close();
    });
    return watch;
  }
}

const silent = pino({ level: "silent" });
const waiting = (count: number | string) => `vllm:num_requests_waiting ${count}\n`;

test("a queue is long from its threshold on, and no longer when it shrinks", async () => {
  const engine = new Engine(waiting(8));
  const watch = await engine.watch(silent);
  await waitFor(() => watch.longQueues().includes("gpu"), 5_000, "a long queue");
  engine.page = waiting(7);
  await waitFor(() => watch.longQueues().length === 0, 5_000, "a short queue");
});

test("a reading after which nothing more is heard holds for 5 s", async () => {
  let nowMs = 100_000;
  const engine = new Engine(waiting(9));
  const watch = await engine.watch(silent, () => nowMs);
  await waitFor(() => watch.longQueues().includes("gpu"), 5_000, "a long queue");
  engine.page = "error";
  const before = engine.asked;
  await waitFor(() => engine.asked > before + 2, 5_000, "failed readings");
  nowMs += 5_000;
  assert.deepEqual(watch.longQueues(), ["gpu"]);
  nowMs += 1;
  assert.deepEqual(watch.longQueues(), []);
});

test("a page that hangs is asked once at a time, and given up after a second", async () => {
  const engine = new Engine("hang");
  const startedAt = performance.now();
  const watch = await engine.watch(silent);
  await waitFor(() => engine.asked === 2, 5_000, "the second asking");
  assert.ok(performance.now() - startedAt > 900);
  assert.deepEqual(watch.longQueues(), []);
});

test("tells once when readings begin to fail: another status, too large, no gauge", async () => {
  for (const page of ["error", "x".repeat(3_000_000), "nothing of ours\n", waiting("NaN")]) {
    const lines: string[] = [];
    const engine = new Engine(page);
    await engine.watch(pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }));
    await waitFor(() => engine.asked > 3, 5_000, "readings");
    assert.equal(lines.length, 1, page.slice(0, 20));
  }
});
