import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, createServer } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Sessions } from "../../../extproc/grpc/sessions.js";

const PERIOD_MS = 40;

const server = createServer();
const sessions = new Sessions(PERIOD_MS);
server.on("session", (session) => sessions.add(session));
let port = 0;
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
after(() => {
  sessions.destroy();
  server.close();
});

test("gives up a peer that answers no ping", async () => {
  const socket = connect(port, "127.0.0.1");
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings]));
  socket.resume();
  await once(socket, "close");
});

test("keeps a peer that answers them", async () => {
  const client = connectHttp2(`http://127.0.0.1:${port}`);
  let pings = 0;
  client.on("ping", () => {
    pings++;
  });
  await delay(PERIOD_MS * 8);
  assert.ok(pings >= 2, `${pings} pings`);
  assert.ok(!client.closed);
  client.close();
});
