import { Fields, show } from "./fields";
import { JsonKind } from "./json";
import { ModelPattern } from "./model-pattern";
import { Chain, Policy } from "./policy";

const MAX_PATTERNS: i32 = 32;
const MAX_BYTES: i32 = 128;

/** The models of a chain. A text that an earlier chain has would never be reached here, so it is a fault. */
export function parseModels(fields: Fields, chain: Chain, policy: Policy): void {
  const items = fields.list("models");
  if (items.length > MAX_PATTERNS) {
    fields.fault("models", "must list at most " + MAX_PATTERNS.toString() + " names or patterns");
  }
  for (let i = 0; i < items.length; i++) {
    const name = "models[" + i.toString() + "]";
    const text = items[i].text;
    const length = String.UTF8.byteLength(text);
    if (items[i].kind !== JsonKind.TEXT || length === 0 || length > MAX_BYTES) {
      fields.fault(
        name,
        "must be a text of 1 to " + MAX_BYTES.toString() + ' bytes, "*" for any text, got ' + show(items[i]),
      );
      continue;
    }
    const owner = ownerOf(text, chain, policy);
    if (owner) fields.fault(name, '"' + text + '" is already a model of chain ' + owner.name);
    else chain.models.push(new ModelPattern(text));
  }
}

/** The chain parsed so far that has this very text; the one being parsed included. */
function ownerOf(text: string, chain: Chain, policy: Policy): Chain | null {
  for (let i = 0; i < policy.chains.length; i++) {
    if (hasModel(policy.chains[i], text)) return policy.chains[i];
  }
  return hasModel(chain, text) ? chain : null;
}

function hasModel(chain: Chain, text: string): bool {
  for (let i = 0; i < chain.models.length; i++) {
    if (chain.models[i].source === text) return true;
  }
  return false;
}
