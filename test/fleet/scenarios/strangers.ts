import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../../demo/clock.js";
import type { Scenario } from "../scenario.js";
import { Voter } from "../voter.js";
import { lastOf } from "./outage.js";

/** A service that has just begun tells nothing for three seconds. */
const votingMs = 6_000;

/** A stranger's votes would be more than half; the same votes by one who has the key show that they would have counted. */
export const strangers: Scenario = {
  name: "strangers",
  what: "one without the key votes for more gateways than there are, and nothing moves",
  engines: ["gossip", "redis"],
  async run(fleet, trial) {
    const votes = fleet.gateways.length + 1;
    trial.note("votes", votes);
    const stranger = await Voter.join(fleet.meeting, randomBytes(32).toString("hex"), votes);
    await sleep(votingMs);
    const moved = fleet.transitionsSince(trial.startMs);
    trial.check("a stranger's votes move nothing", moved.length === 0, lastOf(moved));
    if (fleet.meeting.engine === "gossip")
      trial.exactly("members that it reaches", stranger.reachable ?? 0, 0);
    await stranger.leave();
    const joinedMs = monotonicMs();
    const member = await Voter.join(fleet.meeting, readFileSync(fleet.meeting.keyFile, "utf8"), votes);
    await fleet.whenAll("OPEN", fleet.numbers, 2 * votingMs).catch(() => {});
    const opened = new Set(
      fleet.transitionsSince(joinedMs).flatMap(({ to, gateway }) => (to === "OPEN" ? gateway : [])),
    );
    await member.leave();
    trial.check("a member's votes count", opened.size === fleet.gateways.length, `${opened.size} opened`);
    await fleet.whenAll("CLOSED");
  },
};
