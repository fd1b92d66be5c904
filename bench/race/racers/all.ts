import type { Racer } from "../racer.js";
import { cockatiel } from "./cockatiel.js";
import { envoy } from "./envoy.js";
import { nothing } from "./nothing.js";
import { opossum } from "./opossum.js";
import { ours } from "./ours.js";
import { portkey } from "./portkey.js";

/** In the order of tables; the first is ours. */
export const racers: readonly Racer[] = [ours, envoy, portkey, cockatiel, opossum, nothing];
