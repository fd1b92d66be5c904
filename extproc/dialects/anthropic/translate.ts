import type { CallersRequest, Translation } from "../dialect.js";

export function translateToAnthropic(_request: CallersRequest): Translation | undefined {
  return undefined;
}
