/** Milliseconds since the epoch. */
export type Clock = () => number;

/** Never steps back while the process lives, and means the same to the next process. */
export const steadyClock: Clock = () => performance.timeOrigin + performance.now();
