import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../../demo/clock.js";
import type { Scenario } from "../scenario.js";
import { silence } from "../weather.js";
import { failFor, lastOf } from "./outage.js";

/** A member is taken for gone after three seconds. */
const forgetMs = 3_500;
const watchMs = 3_000;

export const alone: Scenario = {
  name: "alone",
  what: "what carries the messages is shut down: each goes on by its own evidence, and callers notice nothing",
  engines: ["gossip", "redis"],
  isSplit: true,
  async run(fleet, trial) {
    if (fleet.redis) await fleet.redis.stop();
    else fleet.setWeather(silence);
    await sleep(forgetMs);
    const failing = fleet.numbers.slice(0, fleet.majority);
    const others = fleet.numbers.slice(fleet.majority);
    await failFor(fleet, failing);
    await sleep(watchMs);
    const moved = fleet.transitionsSince(trial.startMs, others);
    trial.check("the others stay closed", moved.length === 0, lastOf(moved));
    fleet.gpu.work();
    const workingMs = monotonicMs();
    await fleet.whenAll("CLOSED");
    trial.note("closed everywhere after ms", monotonicMs() - workingMs);
  },
};
