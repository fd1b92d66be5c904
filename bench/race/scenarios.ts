import type { FaultRequest } from "../../demo/fleet/faults.js";
import type { Callers, Scenario, Seconds, Step } from "./scenario.js";

/** A quarter of what people have in life, as all times of the race. */
const people: Callers = {
  perSecond: 20,
  patienceMs: 10_000,
  retries: 0,
  limits: { objectiveMs: 250, firstTokenMs: 3000, answerMs: 5000 },
};

const serverError: FaultRequest = {
  kind: "status",
  status: 500,
  headers: { "content-type": "application/json" },
  body: '{"error":{"message":"Internal Server Error","type":"InternalServerError","param":null,"code":500}}',
};

const during = (fault: FaultRequest, from: Seconds, to: Seconds, node = 0): Step[] => [
  { at: from, node, fault },
  { at: to, node },
];

const one = { nodes: 1, sick: [0], callers: people } as const;

export const scenarios: readonly Scenario[] = [
  {
    ...one,
    name: "outOfMemory",
    title: "Out of memory, with a slow recovery",
    what:
      "500s with CUDA's out of memory for 2 s, connections refused for 2.5 s while the engine restarts, then 4 s of warm-up at " +
      "three times the latency, in which a prompt of more than 600 tokens kills it again, and all that runs on it.",
    seconds: 25,
    steps: during(
      {
        kind: "cudaOutOfMemory",
        recoveryMs: 2500,
        recovery: "refused",
        warmUp: { forMs: 4000, factor: 3, deadlyPromptTokens: 600 },
      },
      4,
      6,
    ),
    fault: [4, 12.5],
    recovering: [8.5, 12.5],
  },
  {
    ...one,
    name: "brownOut",
    title: "Brown-out at five times the latency",
    what: "Everything takes five times as long for 9 s, and the queue grows. No status tells of it.",
    seconds: 29,
    steps: during({ kind: "slow", factor: 5 }, 4, 13),
    fault: [4, 13],
    recovering: [13, 16],
  },
  {
    ...one,
    name: "flapping",
    title: "Flapping",
    what: "500s for 1.5 s, well for 1.5 s, four times over.",
    seconds: 27,
    steps: [4, 7, 10, 13].flatMap((at) => during(serverError, at, at + 1.5)),
    fault: [4, 14.5],
    recovering: [14.5, 17.5],
  },
  {
    ...one,
    name: "errorIn200",
    title: "Errors inside a 200",
    what: "For 8 s each answer is a 200 whose first event, or whose whole JSON body, is an error of the engine.",
    seconds: 28,
    steps: during({ kind: "errorInStream", inOnePiece: true }, 4, 12),
    fault: [4, 12],
    recovering: [12, 15],
  },
  {
    ...one,
    name: "hang",
    title: "Hang",
    what: "For 8 s requests are taken and never answered; /health stays green.",
    seconds: 28,
    steps: during({ kind: "hang" }, 4, 12),
    fault: [4, 12],
    recovering: [12, 15],
  },
  {
    ...one,
    name: "oneBadNode",
    title: "One bad node of four",
    what: "One of the primary's four nodes answers 500 for 9 s. To eject that host is the right tool.",
    seconds: 23,
    nodes: 4,
    steps: during(serverError, 4, 13),
    fault: [4, 13],
    recovering: [13, 16],
  },
  {
    ...one,
    name: "retryStorm",
    title: "Retry storm of impatient callers at twenty times the load",
    what:
      "For 4 s twenty times as many callers as before, over twice what the primary can do; each hangs up after 2 s and tries " +
      "again at once, three times. Nothing is wrong with the primary but its queue.",
    seconds: 11,
    steps: [],
    fault: [2, 6],
    recovering: [6, 8],
    callers: {
      ...people,
      perSecond: 5,
      patienceMs: 2000,
      retries: 3,
      rush: { span: [2, 6], perSecond: 80 },
    },
    oneByOne: true,
  },
];
