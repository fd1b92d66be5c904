import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { countedHeader } from "../support/asking-envoy.js";
import { type AskingRig, completionOf, countedBy, path, startAskingRig } from "../support/asking-rig.js";

let rig: AskingRig;
before(async () => {
  rig = await startAskingRig();
});
after(() => rig?.stop());

/** A request whose body's last bytes are held back. */
class HalfRequest {
  private answer = "";
  private readonly rest: string;

  private constructor(
    private readonly socket: Socket,
    readonly tokens: number,
  ) {
    const body = completionOf(tokens);
    const half = body.length >> 1;
    this.rest = body.slice(half);
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.answer += text;
    });
    socket.on("error", () => {});
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n` +
        `content-length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
    );
  }

  static async open(port: number, tokens: number): Promise<HalfRequest> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new HalfRequest(socket, tokens);
  }

  complete(): void {
    this.socket.write(this.rest);
  }

  leave(): void {
    this.socket.destroy();
  }

  /** What was counted for it, when its answer has come to its end. */
  async counted(): Promise<number | undefined> {
    if (!this.socket.closed) await new Promise((resolve) => this.socket.once("close", resolve));
    assert.match(this.answer, /^HTTP\/1\.1 200 /);
    const found = new RegExp(`^${countedHeader}: (\\d+)\r$`, "m").exec(this.answer);
    return found ? Number(found[1]) : undefined;
  }
}

/** Resident memory of the service, in MiB, and its open files and sockets. */
function usage(): { mib: number; handles: number } {
  const { pid } = rig.service;
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return {
    mib: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024,
    handles: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Callers that leave: some in the middle of the body, some while the count is made. */
async function abortFor(periodMs: number, perSecond: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < periodMs) {
    const due = ((performance.now() - startedAt) / 1000) * perSecond;
    for (; count < due; count++) {
      void HalfRequest.open(rig.port, 1 + (count % 500)).then(async (request) => {
        if (count % 2) request.complete();
        await delay(count % 5);
        request.leave();
      });
    }
    await delay(2);
  }
  return count;
}

test("GRPC-1 (b): 500 callers a second that leave cost no memory, no handle and no stream of others", async () => {
  await abortFor(2000, 500);
  await delay(200);
  const before = usage();
  const aborts = await abortFor(5000, 500);
  assert.ok(aborts >= 2400, `${aborts} aborts`);
  await delay(500);
  const after = usage();
  assert.ok(after.mib - before.mib < 40, `${before.mib} MiB, ${after.mib} afterwards`);
  assert.ok(after.handles - before.handles <= 2, `${before.handles} handles, ${after.handles} afterwards`);
  assert.equal(countedBy(await rig.ask(7)), 7);
  assert.equal(await rig.asked("streams_failed"), 0);
  assert.equal(rig.service.exit, undefined);
  assert.deepEqual(rig.service.log.matching(/unhandled|"level":"(warn|error|fatal)"/i), []);
});

test("GRPC-1 (d): a thousand open streams survive a service that pauses for five seconds, none mixed up", async () => {
  const failedBefore = await rig.asked("streams_failed");
  const requests = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => HalfRequest.open(rig.port, index + 1)),
  );
  await delay(500);
  rig.service.signal("SIGSTOP");
  await delay(5000);
  rig.service.signal("SIGCONT");
  for (const request of requests) request.complete();
  const counted = await Promise.all(requests.map((request) => request.counted()));
  assert.deepEqual(
    counted,
    requests.map(({ tokens }) => tokens),
  );
  assert.equal(await rig.asked("streams_failed"), failedBefore);
});
