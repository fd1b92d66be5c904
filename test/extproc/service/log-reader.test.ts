import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FREE_PORTS, ServiceProcess } from "../support/process.js";

// Whoever reads the service's log may die or hang before the service does.

/** On a busy machine; without the end that is looked for it would be never. */
const exitWithinMs = 20_000;
/** Lines as long as this one, more than a pipe and its reader hold. */
const refused = `${FREE_PORTS}${"x".repeat(4_000)}: 1\n`;
const reloads = 100;

test("ends on SIGTERM although nobody reads its log any more", async () => {
  const service = new ServiceProcess(FREE_PORTS);
  const { httpAddress = "" } = await service.line("started");
  // Who answers has heard of signals, too.
  await health(httpAddress);
  service.child.stdout?.destroy();
  service.child.stderr?.destroy();
  service.child.kill("SIGTERM");
  assert.equal(await exitOf(service), 0);
});

test("serves, and ends on SIGTERM, although the reader of its log hangs", async () => {
  const service = new ServiceProcess(FREE_PORTS);
  const { httpAddress = "" } = await service.line("started");
  writeFileSync(service.file, refused);
  await service.line("configuration refused, the old one goes on");
  service.child.stdout?.pause();
  for (let reload = 0; reload < reloads; reload++) {
    service.child.kill("SIGHUP");
    // Signals that come together are one.
    await health(httpAddress);
  }
  service.child.kill("SIGTERM");
  assert.equal(await exitOf(service), 0);
});

async function health(address: string): Promise<void> {
  await fetch(`http://${address}/healthz`).then((answer) => answer.text());
}

async function exitOf(service: ServiceProcess): Promise<number | null | string> {
  const ended = new Promise<number | null>((resolve) => service.child.once("exit", resolve));
  const late = sleep(exitWithinMs, `not within ${exitWithinMs} ms`, { ref: false });
  const how = await Promise.race([ended, late]);
  service.child.kill("SIGKILL");
  return how;
}
