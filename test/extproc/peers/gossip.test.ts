import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { GossipSettings } from "../../../extproc/peers/settings.js";
import { freePort } from "../../support/ports.js";
import { waitFor } from "../../support/wait-for.js";
import { gossipSettings, KEY, type Member, OTHER_KEY, openMember } from "../support/peers.js";

const COUNT = 5;
const CONNECT_MS = 15_000;
const HEAR_MS = 3000;

let settings: { gossip: GossipSettings }[];
let members: Member[];

before(async () => {
  settings = await gossipSettings(COUNT);
  members = await Promise.all(settings.map((each, at) => openMember(`member ${at}`, each)));
  await waitFor(() => members.every(hearsAllOthers), CONNECT_MS, "members that hear each other");
});

after(async () => {
  await Promise.all(members.map((member) => member.close()));
});

function hearsAllOthers({ talk }: Member): boolean {
  return new Set(talk.heard.map(({ text }) => text)).size >= COUNT - 1;
}

test("what one of five tells is heard once by each of the four others, within 150 ms", async () => {
  const [first, ...others] = members as [Member, ...Member[]];
  const stale = () => others.map(({ peers }) => peers.counts.stale);
  const before = stale();
  const delaysMs: number[] = [];
  for (let at = 0; at < 10; at++) {
    const news = `news ${at}`;
    const saidMs = performance.now();
    first.talk.say(news);
    await waitFor(() => others.every(({ talk }) => talk.hears(news)), HEAR_MS, "the news");
    for (const { talk } of others) {
      delaysMs.push((talk.heard.find(({ text }) => text === news)?.atMs ?? 0) - saidMs);
    }
    await delay(100);
  }
  const median = delaysMs.sort((a, b) => a - b)[Math.floor(delaysMs.length / 2)] ?? Number.NaN;
  assert.ok(median < 150, `${median} ms`);
  assert.deepEqual(stale(), before, "nothing comes twice");
  assert.ok(!first.talk.heard.some(({ text }) => text.startsWith("news")), "nobody hears itself");
  assert.deepEqual(
    members.map(({ peers }) => peers.reachable),
    members.map(() => COUNT - 1),
  );
});

test("a member with another key is not heard, hears nothing and is not connected", async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const gossip = { listen, members: settings.map((each) => each.gossip.listen) };
  const stranger = await openMember("stranger", { gossip }, { keys: OTHER_KEY });
  try {
    const failed = () => stranger.lines.filter(({ msg }) => msg === "peers: can't be reached").length;
    await waitFor(() => failed() >= 6 * COUNT, 12_000, "six refusals by each");
    const told = stranger.lines.filter(({ level }) => level === 40);
    assert.equal(told.length, COUNT, "each is told of once");
    assert.match(
      String(told[0]?.msg),
      /can't be reached: is it up, and is its peers\.keyFile the same as ours\?/,
    );
    assert.equal(stranger.peers.reachable, 0);
    assert.deepEqual(stranger.talk.heard, []);
    assert.ok(members.every(({ talk }) => !talk.hears("stranger")));
    assert.ok(members.every(({ peers }) => peers.reachable === COUNT - 1 && peers.counts.refused === 0));
  } finally {
    await stranger.close();
  }
});

test("what speaks no protocol of ours, or says nothing, is hung up on and keeps nobody from talking", async () => {
  const { port } = new URL(`tcp://${settings[0]?.gossip.listen}`);
  const sockets = [Buffer.alloc(0), Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.alloc(100_000, 7)].flatMap(
    (bytes) =>
      Array.from({ length: 5 }, () => {
        const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
        socket.on("error", () => {});
        return socket;
      }),
  );
  const news = "in spite of strangers";
  members[1]?.talk.say(news);
  await waitFor(() => members[0]?.talk.hears(news), HEAR_MS, "the news");
  await waitFor(
    () => sockets.every(({ readyState }) => readyState === "closed"),
    5000,
    "the end of strangers",
  );
});

const ROLL_OUT = {
  "which one knows already": [KEY, `${KEY}\n${OTHER_KEY}`],
  "which one seals by already": [`${KEY}\n${OTHER_KEY}`, `${OTHER_KEY}\n\n ${KEY} \n`],
  "whose predecessor one has forgotten": [`${OTHER_KEY}\n${KEY}`, OTHER_KEY],
};
for (const [step, keys] of Object.entries(ROLL_OUT)) {
  test(`members talk while a key is rolled out ${step}`, async () => {
    const own = await gossipSettings(2);
    const opened = await Promise.all(own.map((each, at) => openMember(`${at}`, each, { keys: keys[at] })));
    const [one, two] = opened as [Member, Member];
    try {
      await waitFor(() => one.talk.hears("1") && two.talk.hears("0"), CONNECT_MS, "both");
    } finally {
      await Promise.all(opened.map((member) => member.close()));
    }
  });
}

test("who seals by a key that others don't know yet counts for nobody, and they say so once", async () => {
  const own = await gossipSettings(2);
  const keys = [KEY, `${OTHER_KEY}\n${KEY}`];
  const opened = await Promise.all(own.map((each, at) => openMember(`${at}`, each, { keys: keys[at] })));
  const [one, two] = opened as [Member, Member];
  try {
    await waitFor(() => one.peers.counts.refused > 2 && two.peers.counts.stale > 2, CONNECT_MS, "refusals");
    assert.deepEqual([...one.talk.heard, ...two.talk.heard], []);
    assert.equal(one.lines.filter(({ msg }) => String(msg).includes("no key of peers.keyFile")).length, 1);
  } finally {
    await Promise.all(opened.map((member) => member.close()));
  }
});

test("a member that restarts on its port is heard again", async () => {
  const [own] = settings;
  assert.ok(own);
  await members[0]?.close();
  await waitFor(
    () => members.slice(1).every(({ peers }) => peers.reachable === COUNT - 2),
    8000,
    "its leaving",
  );
  const restartedMs = performance.now();
  members[0] = await openMember("restarted", own);
  await waitFor(
    () => members.slice(1).every(({ talk }) => talk.hears("restarted")),
    CONNECT_MS,
    "its return",
  );
  assert.ok(performance.now() - restartedMs < 5000);
  await waitFor(() => members[0] && hearsAllOthers(members[0]), HEAR_MS, "the others");
});

test("members are found by a name, one connection for two, and their leaving it is no disconnection", async () => {
  const port = await freePort();
  const hosts = ["127.0.0.21", "127.0.0.22", "127.0.0.23"];
  let answer: readonly string[] = hosts.slice(0, 2);
  let asked = 0;
  const names = {
    async addressesOf() {
      asked++;
      return answer;
    },
    srv: () => Promise.reject(new Error("not asked")),
  };
  const open = (host: string) => {
    const gossip = { listen: `${host}:${port}`, members: [`gateways.test:${port}`] };
    return openMember(host, { gossip }, { parts: { names } });
  };
  const opened = await Promise.all(hosts.map(open));
  try {
    const [first, second, third] = opened as [Member, Member, Member];
    await waitFor(() => first.talk.hears("127.0.0.22") && second.talk.hears("127.0.0.21"), CONNECT_MS, "two");
    // The third is in nobody's list, but has the key and the list itself.
    await waitFor(
      () => first.talk.hears("127.0.0.23") && third.talk.hears("127.0.0.21"),
      CONNECT_MS,
      "three",
    );
    const connected = opened.flatMap(({ lines }) => lines).filter(({ msg }) => msg === "peers: connected");
    assert.ok(connected.length <= 5, `${connected.length} connections`);
    const unreached = opened
      .flatMap(({ lines }) => lines)
      .filter(({ msg }) => msg === "peers: can't be reached");
    assert.ok(unreached.length <= 4, "nobody dials itself again and again");
    answer = [];
    const before = asked;
    await waitFor(() => asked >= before + opened.length, 12_000, "the name asked again");
    first.talk.say("still there");
    await waitFor(() => second.talk.hears("still there"), HEAR_MS, "the news");
  } finally {
    await Promise.all(opened.map((member) => member.close()));
  }
});

test("a port that is taken is told by its setting", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const gossip = { listen: `127.0.0.1:${port}`, members: ["127.0.0.1:1"] };
  await assert.rejects(openMember("late", { gossip }), {
    name: "ListenError",
    message: new RegExp(
      `^EXTPROC start: peers\\.gossip\\.listen 127\\.0\\.0\\.1:${port} can't be listened on: listen EADDRINUSE[^\n]*; free the port or set `,
    ),
  });
  server.close();
});
