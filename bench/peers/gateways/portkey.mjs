// Portkey's own server, `node portkey.mjs --port=N --headless`, with the config of $RACE_CONFIG for every request.
import cluster from "node:cluster";
import { subscribe } from "node:diagnostics_channel";
import { Server } from "node:net";

const workers = 2;

if (cluster.isPrimary) {
  // It keeps no state, so that two processes are what two workers are to Envoy.
  for (let worker = 0; worker < workers; worker++) cluster.fork();
} else {
  const config = process.env.RACE_CONFIG ?? "{}";
  // Its callers name a config by a header; our callers do not know whom they speak to.
  subscribe("http.server.request.start", ({ request }) =>
    request.rawHeaders.push("x-portkey-config", config),
  );

  // It listens on all interfaces, and a config may name any host: not on a machine that only wants to race.
  const { listen } = Server.prototype;
  Server.prototype.listen = function (port, _host, ...rest) {
    return listen.call(this, port, "127.0.0.1", ...rest);
  };
  await import("@portkey-ai/gateway/build/start-server.js");
}
