import { applyEdits } from "../body/splice.js";
import { scanTopLevel } from "../body/top-level.js";
import { BodyPlan } from "./plan.js";
import type { RewriteRules } from "./rules.js";

const OPTIONS = "stream_options";
const OPTION = "include_usage";

/** Asks for the usage at a stream's end. Only chats and completions know the option, and only when they stream. */
export function includeUsage(plan: BodyPlan, rules: RewriteRules): void {
  if (!rules.includesUsage || rules.remove.has(OPTIONS)) return;
  const stream = plan.last("stream");
  if (stream === undefined || plan.valueOf(stream).toString("latin1") !== "true") return;
  if (!plan.has("messages") && !plan.has("prompt")) return;
  if (!plan.has(OPTIONS)) plan.add(OPTIONS, `{"${OPTION}":true}`);
  for (const planned of plan.named(OPTIONS)) planned.newValue = switchOn(plan.valueOf(planned));
}

/** Other options in it stay as they are; what is no object (null, say) is replaced. */
function switchOn(options: Buffer): Buffer {
  const top = scanTopLevel(options);
  if (top === undefined) return Buffer.from(`{"${OPTION}":true}`);
  const plan = new BodyPlan(options, top);
  for (const planned of plan.named(OPTION)) planned.newValue = Buffer.from("true");
  if (!plan.has(OPTION)) plan.add(OPTION, "true");
  return applyEdits(options, plan.edits());
}
