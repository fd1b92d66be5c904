/** What becomes of the messages that other members send to a service. */
export interface Weather {
  /** So many of a hundred are lost, each member's own ones. */
  readonly lossPercent: number;
  /** Members whose messages do not come through at all. */
  readonly deafTo: readonly number[];
}

export const calm: Weather = { lossPercent: 0, deafTo: [] };

export const silence: Weather = { lossPercent: 100, deafTo: [] };
