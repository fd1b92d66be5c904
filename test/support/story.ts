import assert from "node:assert/strict";

/** What the story's JSON must say, with the real names of the fields. */
export interface Story {
  readonly requests: number;
  readonly ok: number;
  readonly bareFailures: number;
  readonly brokenStreams: number;
  readonly jsonErrors: number;
  readonly opened: number;
  readonly closed: number;
  readonly servedByFallback: number;
  readonly canaryMaxPromptTokens: number;
  readonly maxCanariesAtOnce: number;
  readonly maxProbesPerOpening: number;
  readonly primaryHitsWhileOpen: number;
}

export function assertGentle(story: Story): void {
  assert.equal(story.bareFailures, 0);
  assert.ok(story.opened >= 1 && story.closed >= 1, "the primary opened and closed");
  assert.ok(story.servedByFallback > 0);
  assert.equal(story.primaryHitsWhileOpen, 0);
  assert.ok(story.maxProbesPerOpening <= 1);
  assert.ok(story.maxCanariesAtOnce <= 2);
  assert.ok(story.canaryMaxPromptTokens <= 256);
}
