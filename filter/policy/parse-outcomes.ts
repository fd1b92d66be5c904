import { Outcome } from "../breaker/outcome";
import { BodyRules } from "../bytes/body-rules";
import { Failure, failureName } from "./failure";
import { Fields, show } from "./fields";
import { JsonKind } from "./json";
import { OutcomeRules } from "./outcome-rules";

const MAX_BODY_RULES: i32 = 8;
const MAX_PATTERN: i32 = 64;
const MAX_WEIGHT: i32 = 10;

const OUTCOMES: string[] = ["success", "failure", "engineFatal", "outOfMemory", "backpressure", "neutral"];

/** What counts as what. A backend's own `outcomes` and `bodyRules` stand in place of the shared ones. */
export function parseOutcomes(fields: Fields, rules: OutcomeRules): void {
  const weights = fields.object("weights");
  for (let i: i32 = Failure.STATUS; i < Failure.BACKPRESSURE; i++) {
    rules.weights[i] = <u32>weights.factor(failureName(i), 0, MAX_WEIGHT, <i32>rules.weights[i]);
  }
  weights.close();
  if (fields.node.get("outcomes")) rules.forgetStatuses();
  const outcomes = fields.object("outcomes");
  for (let i = 0; i < OUTCOMES.length; i++) parseStatuses(outcomes, OUTCOMES[i], <Outcome>i, rules);
  outcomes.close();
  parseBodyRules(fields, rules);
}

function parseStatuses(fields: Fields, key: string, outcome: Outcome, rules: OutcomeRules): void {
  const items = fields.list(key);
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const name = key + "[" + i.toString() + "]";
    const isClass = item.kind === JsonKind.TEXT && (item.text === "4xx" || item.text === "5xx");
    const isStatus =
      item.kind === JsonKind.NUMBER &&
      item.number === Math.floor(item.number) &&
      item.number >= 300 &&
      item.number <= 599;
    if (!isClass && !isStatus) {
      fields.fault(name, 'must be a status from 300 to 599, "4xx" or "5xx", got ' + show(item));
      continue;
    }
    const from = isClass ? (<i32>item.text.charCodeAt(0) - 0x30) * 100 : <i32>item.number;
    const to = isClass ? from + 99 : from;
    let other = -1;
    for (let status = from; status <= to; status++) {
      const before = rules.ofStatus(status);
      if (!rules.setStatus(status, outcome) && other < 0) other = before;
    }
    if (other >= 0) fields.fault(name, "is in " + fields.name(OUTCOMES[other]) + " already");
  }
}

function parseBodyRules(fields: Fields, rules: OutcomeRules): void {
  if (fields.node.get("bodyRules")) rules.forgetBody();
  const items = fields.list("bodyRules");
  if (items.length === 0) return;
  if (items.length > MAX_BODY_RULES) fields.fault("bodyRules", "must have at most 8 rules");
  const patterns: string[] = [];
  const outcomes: u8[] = [];
  for (let i = 0; i < items.length; i++) {
    const name = fields.name("bodyRules[" + i.toString() + "]");
    const rule = new Fields(name, items[i], fields.errors);
    const pattern = rule.text("pattern", "");
    const length = String.UTF8.byteLength(pattern);
    if (!rule.node.get("pattern")) rule.fault("pattern", "is missing");
    else if (length > MAX_PATTERN) rule.fault("pattern", "must be at most 64 bytes long");
    else if (length > 0) patterns.push(pattern);
    const outcome = rule.choice("outcome", OUTCOMES, -1);
    if (!rule.node.get("outcome")) rule.fault("outcome", "is missing; one of " + OUTCOMES.join(", "));
    outcomes.push(<u8>outcome);
    rule.close();
  }
  if (patterns.length !== items.length || items.length > MAX_BODY_RULES) return;
  rules.body = new BodyRules(patterns);
  rules.bodyOutcomes = StaticArray.fromArray<u8>(outcomes);
}
