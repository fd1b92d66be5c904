import { applyEdits } from "../body/splice.js";
import { scanElements, scanTopLevel } from "../body/top-level.js";
import { type BodyPlan, type PlannedMember, removalsOf } from "./plan.js";
import type { RewriteRules } from "./rules.js";

/** Takes named fields out, and web search wherever it is asked for. */
export function removeFields(plan: BodyPlan, rules: RewriteRules): void {
  if (rules.remove.size > 0) plan.remove(...rules.remove);
  if (rules.removesWebSearch) removeWebSearch(plan);
}

/**
 * Entries of `tools` that are the provider's own search (`web_search`, `web_search_preview`, dated ones) go; a
 * caller's function of that name stays. An empty list is refused by servers, so it goes with what speaks of it.
 */
function removeWebSearch(plan: BodyPlan): void {
  for (const planned of plan.named("tools")) removeSearchTools(plan, planned);
  const choice = plan.last("tool_choice");
  if (choice !== undefined && isWebSearch(plan.valueOf(choice))) plan.remove("tool_choice");
}

function removeSearchTools(plan: BodyPlan, planned: PlannedMember): void {
  const tools = plan.valueOf(planned);
  const entries = (scanElements(tools) ?? []).map((span) => ({
    ...span,
    isRemoved: isWebSearch(tools.subarray(span.start, span.end)),
  }));
  if (!entries.some(({ isRemoved }) => isRemoved)) return;
  if (entries.every(({ isRemoved }) => isRemoved)) {
    planned.isRemoved = true;
    if (!plan.has("tools")) plan.remove("tool_choice", "parallel_tool_calls");
  } else {
    planned.newValue = applyEdits(tools, removalsOf(entries));
  }
}

function isWebSearch(object: Buffer): boolean {
  const type = scanTopLevel(object)?.members.findLast(({ key }) => key === "type");
  return type !== undefined && /^"web_search/.test(object.toString("utf8", type.valueStart, type.valueEnd));
}
