import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { waitFor } from "../../support/wait-for.js";
import { admitted, limiterOf, refused, request } from "../support/limits.js";

const LIMIT = 100;

/** Speaks Redis's protocol well enough for the handshake, and answers each script by `reply`. */
async function startOdd(reply: string) {
  const sockets = new Set<Socket>();
  let scripts = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      for (const command of bytes.toString("latin1").match(/(?<=^\*\d+\r\n\$\d+\r\n)\w+/gm) ?? []) {
        const isScript = /^eval/i.test(command);
        if (isScript) scripts++;
        socket.write(isScript ? reply : /^info$/i.test(command) ? "$9\r\nloading:0\r\n" : "+OK\r\n");
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    scripts: () => scripts,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

for (const [name, reply] of Object.entries({
  "a text": "+OK\r\n",
  "nothing in a list": "*0\r\n",
  "one number": "*1\r\n:5\r\n",
  words: "*2\r\n$3\r\nabc\r\n$3\r\ndef\r\n",
  nulls: "*2\r\n$-1\r\n$-1\r\n",
  "an error": "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
})) {
  test(`a Redis that answers ${name} is taken for away, and limits hold`, async () => {
    const odd = await startOdd(reply);
    const redis = { url: odd.url, timeout: "2s" };
    const { limiter } = limiterOf({ tokensPerMinute: LIMIT, redis });
    try {
      const ask = () => limiter.admit(request(1, { caller: "a first one" }));
      await waitFor(async () => (await ask()) !== undefined && odd.scripts() > 0, 10_000, "a script");
      const { headers } = await admitted(limiter, request(LIMIT));
      assert.equal(headers["x-ratelimit-remaining-tokens"], "0");
      await refused(limiter, request(1));
    } finally {
      limiter.close();
      odd.close();
    }
  });
}
