import type { Setup } from "../setup/setup.js";
import type { Found } from "./rule.js";

export function* meshTimeouts(_setup: Setup): Iterable<Found> {}
export function* meshRetries(_setup: Setup): Iterable<Found> {}
export function* meshMirrors(_setup: Setup): Iterable<Found> {}
