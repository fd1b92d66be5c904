import { Text } from "../host/text";
import { Fields, HOUR_MS } from "./fields";
import { JsonKind, quote } from "./json";
import { Chain, Exhausted } from "./policy";

/** In the order of `Exhausted`. */
const ACTIONS: string[] = ["reply", "bypass", "fixed", "cached"];
const MAX_TEXT: i32 = 2000;
const DEFAULT_MAX_AGE_MS: u32 = 600000;

/** What happens to a request that no tier may answer. */
export function parseExhausted(fields: Fields, chain: Chain): void {
  chain.exhausted = fields.choice("action", ACTIONS, chain.exhausted);
  const start = '{"chain":' + quote(chain.name) + ',"action":"' + ACTIONS[chain.exhausted] + '",';
  if (chain.exhausted === Exhausted.FIXED) {
    const status = fields.integer("status", 200, 599, 200);
    const text = parseText(fields);
    chain.exhaustedOrder = Text.of(start + '"status":' + status.toString() + ',"text":' + quote(text) + "}");
  } else {
    chain.exhaustedStatus = fields.integer("status", 400, 599, chain.exhaustedStatus);
    if (fields.find("text")) fields.fault("text", "is only for the action fixed");
  }
  if (chain.exhausted === Exhausted.CACHED) {
    const seconds = (fields.duration("maxAge", 1000, 24 * HOUR_MS, DEFAULT_MAX_AGE_MS) + 999) / 1000;
    chain.exhaustedOrder = Text.of(start + '"maxAgeSeconds":' + seconds.toString() + "}");
  } else if (fields.find("maxAge")) {
    fields.fault("maxAge", "is only for the action cached");
  }
  fields.close();
}

function parseText(fields: Fields): string {
  const given = fields.node.get("text");
  if (!given || given.kind === JsonKind.NULL) fields.fault("text", "is missing: what the fixed answer says");
  const text = fields.text("text", "");
  if (String.UTF8.byteLength(text) > MAX_TEXT) {
    fields.fault("text", "must be at most " + MAX_TEXT.toString() + " bytes long");
  }
  return text;
}
