import assert from "node:assert/strict";
import { test } from "node:test";
import grpc from "@grpc/grpc-js";
import { pino } from "pino";
import { GrpcServer } from "../../../extproc/grpc-server.js";
import { Health } from "../../../extproc/health.js";
import { loadAccessLog } from "../../../extproc/protos.js";
import { usageService } from "../../../extproc/usage/usage-service.js";
import { waitFor } from "../../support/wait-for.js";
import { accessLogEntry } from "../support/access-log.js";

const METHOD = loadAccessLog().StreamAccessLogs ?? assert.fail("no StreamAccessLogs");

type Call = grpc.ClientWritableStream<object>;

/** The service on a port, and calls to it as Envoy makes them. */
async function start() {
  const settled: [string, number | undefined][] = [];
  const limiter = {
    admit: () => assert.fail("nobody asks"),
    settle: (reservation: string, used: number | undefined) => void settled.push([reservation, used]),
    cancel: () => {},
  };
  const server = new GrpcServer({
    maxBodyBytes: 1_048_576,
    lease: () => assert.fail("no stream begins"),
    health: new Health(),
    sides: [usageService(() => limiter)],
    log: pino({ level: "silent" }),
  });
  const port = await server.listen("127.0.0.1:0");
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const open = (onEnd: (cause: Error | null) => void = () => {}): Call =>
    client.makeClientStreamRequest(METHOD.path, METHOD.requestSerialize, METHOD.responseDeserialize, onEnd);
  return { server, settled, open, close: () => client.close() };
}

test("settles each entry of a message, and goes on with the next", async () => {
  const { server, settled, open, close } = await start();
  const call = open();
  const usage = '{"prompt":12,"completion":34,"backend":"gpu"}';
  call.write({
    http_logs: {
      log_entry: [
        accessLogEntry({ reservation: "a", usage }),
        accessLogEntry({ reservation: "b", status: 503 }),
      ],
    },
  });
  call.write({ http_logs: { log_entry: [accessLogEntry({ reservation: "" })] } });
  call.write({});
  call.write({ http_logs: { log_entry: [accessLogEntry({ reservation: "c" })] } });
  await waitFor(() => settled.length === 3, 5000, "three settlements");
  assert.deepEqual(settled, [
    ["a", 46],
    ["b", 0],
    ["c", undefined],
  ]);
  close();
  server.close();
});

test("a drain ends calls that are open, so that the server can close", async () => {
  const { server, settled, open, close } = await start();
  let ended: Error | null | undefined;
  const call = open((cause) => {
    ended = cause;
  });
  const cancelled = open();
  for (const each of [call, cancelled]) each.write({ http_logs: { log_entry: [accessLogEntry({})] } });
  await waitFor(() => settled.length === 2, 5000, "two calls");
  cancelled.cancel();
  assert.equal(await server.drain(5000), true);
  assert.equal(ended, null);
  close();
});
