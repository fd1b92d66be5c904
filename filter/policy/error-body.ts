import { Text } from "../host/text";

/** What callers read when no tier of a chain may answer. */
export function exhaustedBody(chain: string): Text {
  return errorBody("No backend of chain " + chain + " can answer now", "llm_breaker_exhausted");
}

/** What callers read when one might, but for its queue. */
export function shedBody(chain: string): Text {
  return errorBody("The queues of chain " + chain + " are too long for this class", "llm_breaker_shed");
}

/** As callers' libraries read it. */
function errorBody(message: string, code: string): Text {
  return Text.of(
    '{"error":{"message":"' +
      message +
      '. Try again after the seconds in Retry-After.","type":"service_unavailable","param":null,"code":"' +
      code +
      '"}}',
  );
}
