import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FREE_PORTS, ServiceProcess } from "../support/process.js";

// Whoever reads the service's log may die or hang before the service does.

const exitWithinMs = 5_000;
/** More than a pipe holds, at a line each of some hundred bytes. */
const reloads = 1_000;

test("ends on SIGTERM although nobody reads its log any more", async () => {
  const service = new ServiceProcess(FREE_PORTS);
  await service.line("started");
  service.child.stdout?.destroy();
  service.child.stderr?.destroy();
  service.child.kill("SIGTERM");
  assert.equal(await exitOf(service), 0);
});

test("serves, and ends on SIGTERM, although the reader of its log hangs", async () => {
  const service = new ServiceProcess(FREE_PORTS);
  const { httpAddress = "" } = await service.line("started");
  service.child.stdout?.pause();
  for (let reload = 0; reload < reloads; reload++) {
    service.child.kill("SIGHUP");
    // Signals that come together are one.
    await fetch(`http://${httpAddress}/healthz`).then((answer) => answer.text());
  }
  service.child.kill("SIGTERM");
  assert.equal(await exitOf(service), 0);
});

async function exitOf(service: ServiceProcess): Promise<number | null | string> {
  const ended = new Promise<number | null>((resolve) => service.child.once("exit", resolve));
  const late = sleep(exitWithinMs, `not within ${exitWithinMs} ms`, { ref: false });
  const how = await Promise.race([ended, late]);
  service.child.kill("SIGKILL");
  return how;
}
