import type { Racer } from "../racer.js";
import { nothing } from "./nothing.js";

/** In the order of tables; the first is ours. */
export const racers: readonly Racer[] = [nothing];
