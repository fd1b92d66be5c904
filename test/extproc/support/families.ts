import { parseConfig } from "../../../extproc/service-config.js";
import { Families } from "../../../extproc/tokens/families.js";

let loaded: Families | undefined;

/** The shipped families, loaded once per test file: it takes about two seconds. */
export function shippedFamilies(): Families {
  loaded ??= Families.load(parseConfig({}));
  return loaded;
}
