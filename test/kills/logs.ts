// What the system's processes may say, and what they may say only of a fault that was played.
import type { Strike } from "./strikes.js";
import type { Victim } from "./victim.js";

interface Expected {
  readonly line: RegExp;
  /** Whose fault it tells of; absent: anybody may say it at any time. */
  readonly of?: RegExp;
}

const expected: readonly Expected[] = [
  { line: /llm\.breaker transition \{/ },
  { line: /no configured limit to the number of allowed active downstream connections/ },
  { line: /caught ENVOY_SIGTERM/ },
  {
    line: /^\d+:[CM] .* [*#] (oO0O|Redis (version|is now)|Config|monotonic|Running|Server init|Ready|User req)/,
  },
  { line: /^\d+:M .* # WARNING Memory overcommit|^\d+:signal-handler .* Received SIGTERM/ },
  { line: /llm\.breaker: (gpu|small) answered its probe with status 50[34]/, of: /gpu|small/ },
  { line: /llm\.breaker: the service .* (is silent|answers again)/, of: /service/ },
  { line: /\[ext_proc\].* Received gRPC error on stream: (4|14)/, of: /service/ },
  { line: /"msg":"peers: Redis is away, gateways go on by themselves"/, of: /redis/ },
  { line: /proxy_on_request_headers failed: Uncaught RuntimeError: unreachable/, of: /gate|meter/ },
];

/** Lines that nothing explains, each once. */
export function unexpectedLines(victims: readonly Victim[], strikes: readonly Strike[]): string[] {
  const lines = victims.flatMap(({ name, logs }) =>
    logs.flatMap((log) =>
      log.all.filter((line) => !isExpected(line, strikes)).map((line) => `${name}: ${line}`),
    ),
  );
  const byShape = new Map(lines.map((line) => [line.replaceAll(/\d+/g, ""), line]));
  return [...byShape.values()];
}

function isExpected(line: string, strikes: readonly Strike[]): boolean {
  if (line === "") return true;
  return expected.some(
    ({ line: pattern, of }) =>
      pattern.test(line) && (of === undefined || strikes.some(({ victim }) => of.test(victim))),
  );
}
