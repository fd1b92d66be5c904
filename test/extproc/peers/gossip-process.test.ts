import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Child } from "../../support/child.js";
import { waitFor } from "../../support/wait-for.js";
import { gossipSettings, openMember } from "../support/peers.js";

const program = join(dirname(fileURLToPath(import.meta.url)), "../support/peer-process.js");
const CONNECT_MS = 15_000;

test("one of five that is killed or hangs is gone for the others, who go on; a closed one leaves nothing open", async () => {
  const settings = await gossipSettings(5);
  const addresses = settings.map(({ gossip }) => gossip.listen);
  const children = addresses.slice(3).map((listen, at) => {
    const args = [program, `child ${at}`, listen, ...addresses];
    return new Child({ name: `member ${at}`, program: process.execPath, args, cwd: process.cwd() });
  });
  const members = await Promise.all(settings.slice(0, 3).map((each, at) => openMember(`member ${at}`, each)));
  const [victim, leaver] = children as [Child, Child];
  try {
    for (const { talk } of members) {
      await waitFor(() => talk.hears("child 0") && talk.hears("child 1"), CONNECT_MS, "both processes");
    }
    victim.signal("SIGKILL");
    await waitFor(() => members.every(({ peers }) => peers.reachable === 3), 3000, "the end of one");
    for (const { talk } of members) talk.forget();
    members[0]?.talk.say("who is left");
    await waitFor(() => members[1]?.talk.hears("who is left"), 2000, "the news");
    await waitFor(() => members[1]?.talk.hears("child 1"), 3000, "the process that is left");
    assert.ok(!members[1]?.talk.hears("child 0"));

    leaver.signal("SIGSTOP");
    await waitFor(
      () => members.every(({ peers }) => peers.reachable === 2),
      8000,
      "the hanging one given up",
    );
    for (const { talk } of members) talk.forget();
    leaver.signal("SIGCONT");
    await waitFor(() => members.every(({ talk }) => talk.hears("child 1")), 8000, "its return");

    leaver.signal("SIGTERM");
    // No process.exit there: whatever was left open would keep it.
    assert.equal(await leaver.exited, "exit code 0");
  } finally {
    await Promise.all(members.map((member) => member.close()));
    for (const child of children) await child.stop();
  }
});
