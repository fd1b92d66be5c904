import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type Dns, systemDns } from "../../../extproc/signals/dns.js";
import { EndpointFinder, type Found } from "../../../extproc/signals/endpoint-finder.js";
import { DnsServer } from "../../support/dns-server.js";

const server = new DnsServer();
let dns: Dns;
/** What the operating system finds. */
const hosts = new Map<string, string[]>();

before(async () => {
  const lookup = async (name: string) => {
    const found = hosts.get(name);
    if (found === undefined) throw Object.assign(new Error(`no ${name}`), { code: "ENOTFOUND" });
    return found;
  };
  dns = { ...systemDns([await server.start()]), lookup };
});
beforeEach(() => {
  server.mode = "answers";
  server.zone = {};
  hosts.clear();
});
after(() => {
  dns.close();
  server.stop();
});

const finderOf = (metrics: string, resolve: "none" | "a" | "srv") =>
  new EndpointFinder({ metrics, resolve, endpoints: undefined }, dns);
const names = ({ endpoints }: Found) => endpoints.map(({ name }) => name);

const IPV6 = "fd00:0:0:0:0:0:0:1";

test("every A and AAAA record is an engine, at the page's port and under its name", async () => {
  server.zone = { "vllm.svc.local": { A: ["10.0.0.2", "10.0.0.1"], AAAA: [IPV6] } };
  const found = await finderOf("http://vllm.svc.local:8000/metrics?x=1", "a").find();
  assert.deepEqual(names(found), ["10.0.0.1:8000", "10.0.0.2:8000", "[fd00::1]:8000"]);
  assert.equal(found.problem, undefined);
  const [first, , third] = found.endpoints;
  assert.equal(first?.url.href, "http://vllm.svc.local:8000/metrics?x=1");
  assert.deepEqual(first?.addresses, [{ address: "10.0.0.1", family: 4 }]);
  assert.deepEqual(third?.addresses, [{ address: "fd00::1", family: 6 }]);
});

test("every SRV record is an engine, with its own port", async () => {
  server.zone = {
    "_http._tcp.vllm.local": { SRV: ["8001 a.vllm.local", "8002 b.vllm.local", "8003 ."] },
    "a.vllm.local": { A: ["10.0.0.1"] },
    "b.vllm.local": { A: ["10.0.0.1", "10.0.0.3"] },
  };
  const found = await finderOf("http://_http._tcp.vllm.local/metrics", "srv").find();
  assert.deepEqual(names(found), ["10.0.0.1:8001", "10.0.0.1:8002", "10.0.0.3:8002"]);
  assert.equal(found.endpoints[0]?.url.href, "http://a.vllm.local:8001/metrics");
});

test("an engine that is gone from DNS is gone, one that came is there", async () => {
  const finder = finderOf("http://vllm.local:80/metrics", "a");
  server.zone = { "vllm.local": { A: ["10.0.0.1", "10.0.0.2"] } };
  assert.equal((await finder.find()).endpoints.length, 2);
  server.zone = { "vllm.local": { A: ["10.0.0.2", "10.0.0.3"] } };
  assert.deepEqual(names(await finder.find()), ["10.0.0.2", "10.0.0.3"]);
  server.zone = {};
  const found = await finder.find();
  assert.deepEqual(names(found), []);
  assert.match(found.problem ?? "", /vllm\.local has no address/);
});

test("while DNS fails the last answer holds, by family and by target", async () => {
  const service = finderOf("http://_m._tcp.vllm.local/metrics", "srv");
  server.zone = {
    "_m._tcp.vllm.local": { SRV: ["8001 a.vllm.local"] },
    "a.vllm.local": { A: ["10.0.0.1"], AAAA: [IPV6] },
  };
  const before = names(await service.find());
  assert.equal(before.length, 2);
  server.mode = "failure";
  const during = await service.find();
  assert.deepEqual(names(during), before);
  assert.match(during.problem ?? "", /DNS does not answer for _m\._tcp\.vllm\.local \(SRV\)/);
  // Again: what held last time still does.
  assert.deepEqual(names(await service.find()), before);
  server.mode = "answers";
  assert.equal((await service.find()).problem, undefined);
});

test("a DNS that never answers is given up within seconds, and nothing is known", async () => {
  server.mode = "silence";
  const startedAt = performance.now();
  const found = await finderOf("http://vllm.local/metrics", "a").find();
  assert.ok(performance.now() - startedAt < 15_000);
  assert.deepEqual(names(found), []);
  assert.match(found.problem ?? "", /DNS does not answer/);
});

test("a name that DNS does not know may be short for one that the system finds", async () => {
  hosts.set("vllm", ["10.0.0.7", "10.0.0.8"]);
  assert.deepEqual(names(await finderOf("http://vllm:1/metrics", "a").find()), ["10.0.0.7:1", "10.0.0.8:1"]);
});

test("unresolved, all addresses of a host are one engine; an address needs no DNS", async () => {
  hosts.set("localhost", ["::1", "127.0.0.1"]);
  const [named] = (await finderOf("http://localhost:8000/metrics", "none").find()).endpoints;
  assert.equal(named?.name, "localhost:8000/metrics");
  assert.deepEqual(
    named?.addresses.map(({ address }) => address),
    ["::1", "127.0.0.1"],
  );
  const before = server.asked;
  for (const resolve of ["none", "a"] as const) {
    const [plain] = (await finderOf("http://[fd00::2]:8000/metrics", resolve).find()).endpoints;
    assert.deepEqual(plain?.addresses, [{ address: "fd00::2", family: 6 }]);
  }
  assert.equal(server.asked, before);
});

test("pages in a list are an engine each, and no more than 64 are asked", async () => {
  const endpoints = [
    "http://10.0.0.1:8000/metrics",
    "http://10.0.0.1:8000/b/metrics",
    "https://10.0.0.2/metrics",
  ];
  const found = await new EndpointFinder({ metrics: undefined, resolve: "none", endpoints }, dns).find();
  assert.equal(found.endpoints.length, 3);
  const many = Array.from({ length: 90 }, (_, index) => `10.0.1.${index}`);
  hosts.set("short", many);
  const most = await finderOf("http://short:1/metrics", "a").find();
  assert.equal(most.endpoints.length, 64);
  assert.match(most.problem ?? "", /90 engines, of which 64 are asked/);
});
