import { HEARD_BEFORE_MS, type Voter } from "./lease.js";
import { LIVE_MS, type Member, type Members } from "./members.js";

/** The other members, as to the prober's lease of one backend. `leaseMs`: its length. */
export function votersOf(members: Members, backend: string, leaseMs: number, now: number): Voter[] {
  return members.all().flatMap((member) => voterOf(member, backend, leaseMs, now));
}

/**
 * Whether a service may vote: for one lease after its start it may not know whom the process before it gave its vote.
 * Where all are that young nobody knows more, and somebody has to begin.
 */
export function mayVote(members: Members, startedAtMs: number, leaseMs: number, now: number): boolean {
  const isOld = (startMs: number) => now - startMs >= leaseMs;
  return isOld(startedAtMs) || !members.live(now).some((member) => isOld(member.startedAtMs));
}

function voterOf(member: Member, backend: string, leaseMs: number, now: number): Voter[] {
  const told = member.backends.get(backend);
  if (told === undefined) return [];
  const { weight, readiness, isProbing, ask, grant, register } = told.view;
  const silentMs = now - member.heardAtMs;
  return [
    {
      id: member.id,
      weight,
      isInQuorum: silentMs <= leaseMs + HEARD_BEFORE_MS && !member.isReplaced,
      isLive: silentMs <= LIVE_MS && !member.isReplaced,
      version: register?.version ?? 0,
      readiness,
      isProbing,
      ask,
      askedAtMs: told.askedAtMs,
      grant,
    },
  ];
}
