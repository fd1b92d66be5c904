import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Answer, MESSAGE_KINDS, type WireStruct, type WireValue } from "../../../extproc/messages.js";
import { writeProcessingResponse } from "../../../extproc/wire/processing-response.js";
import { loadExternalProcessor } from "../support/protos.js";

const method = loadExternalProcessor().Process;
const text = fc.string({ unit: "grapheme", maxLength: 200 });
const bytes = fc.uint8Array({ maxLength: 70_000 }).map((array) => Buffer.from(array));

const struct = fc.letrec<{ value: WireValue; struct: WireStruct }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text.map((stringValue) => ({ stringValue })),
    fc.double({ noNaN: true }).map((numberValue) => ({ numberValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.constant({ nullValue: 0 as const }),
    tie("struct").map((structValue) => ({ structValue })),
    fc.array(tie("value"), { maxLength: 3 }).map((values) => ({ listValue: { values } })),
  ),
  struct: fc.record({ fields: fc.dictionary(text, tie("value"), { maxKeys: 8, noNullPrototype: true }) }),
})).struct;

const mutation = fc.record(
  {
    set_headers: fc.array(
      fc.record({
        header: fc.oneof(fc.record({ key: text, raw_value: bytes }), fc.record({ key: text, value: text })),
        append_action: fc.constantFrom(
          "APPEND_IF_EXISTS_OR_ADD" as const,
          "ADD_IF_ABSENT" as const,
          "OVERWRITE_IF_EXISTS_OR_ADD" as const,
          "OVERWRITE_IF_EXISTS" as const,
        ),
      }),
      { maxLength: 5 },
    ),
    remove_headers: fc.array(text, { maxLength: 5 }),
  },
  { requiredKeys: [] },
);
const response = fc.record(
  {
    status: fc.constantFrom("CONTINUE" as const, "CONTINUE_AND_REPLACE" as const),
    header_mutation: mutation,
    body_mutation: fc.oneof(fc.record({ body: bytes }), fc.constant({ clear_body: true as const })),
  },
  { requiredKeys: [] },
);
const headerMode = fc.constantFrom("DEFAULT" as const, "SEND" as const, "SKIP" as const);
const bodyMode = fc.constantFrom(
  "NONE" as const,
  "STREAMED" as const,
  "BUFFERED" as const,
  "BUFFERED_PARTIAL" as const,
);
const modeOverride = fc.record(
  {
    request_header_mode: headerMode,
    response_header_mode: headerMode,
    request_body_mode: bodyMode,
    response_body_mode: bodyMode,
    request_trailer_mode: headerMode,
    response_trailer_mode: headerMode,
  },
  { requiredKeys: [] },
);
const immediate = fc.record({
  status: fc.constantFrom(200, 400, 413, 429, 503),
  headers: fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true }),
  body: bytes,
  details: text,
});
const answer: fc.Arbitrary<Answer> = fc.record(
  { response, dynamicMetadata: struct, immediate, modeOverride },
  { requiredKeys: [] },
);
const kind = fc.constantFrom(...MESSAGE_KINDS);

/** The same answer as Envoy's definitions have it: written by them and read back, so that defaults look the same. */
function byDefinitions(message: object): unknown {
  return method?.responseDeserialize(method.responseSerialize(message));
}

function toResponse(of: (typeof MESSAGE_KINDS)[number], given: Answer): object {
  const isTrailers = of === "request_trailers" || of === "response_trailers";
  const mutationOnly = given.response?.header_mutation && { header_mutation: given.response.header_mutation };
  const whole = given.response && { response: given.response };
  const part = (isTrailers ? mutationOnly : whole) ?? {};
  const ownAnswer = given.immediate && {
    status: { code: given.immediate.status },
    headers: {
      set_headers: Object.entries(given.immediate.headers).map(([key, value]) => ({
        header: { key, raw_value: Buffer.from(value) },
        append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
      })),
    },
    body: given.immediate.body,
    details: given.immediate.details,
  };
  return {
    ...(ownAnswer ? { immediate_response: ownAnswer } : { [of]: part }),
    ...(given.dynamicMetadata && { dynamic_metadata: given.dynamicMetadata }),
    ...(given.modeOverride && !ownAnswer && { mode_override: given.modeOverride }),
  };
}

test("writes what Envoy's definitions read, framed", () => {
  fc.assert(
    fc.property(kind, answer, (of, given) => {
      const framed = writeProcessingResponse(of, given);
      assert.equal(framed[0], 0);
      assert.equal(framed.readUInt32BE(1), framed.length - 5);
      assert.deepEqual(
        withoutDefaults(method?.responseDeserialize(framed.subarray(5))),
        withoutDefaults(byDefinitions(toResponse(of, given))),
      );
    }),
    { numRuns: 400 },
  );
});

test("writes a body of 16 MiB once", () => {
  const body = Buffer.alloc(16_777_216, "x");
  const framed = writeProcessingResponse("request_body", { response: { body_mutation: { body } } });
  assert.ok(framed.length < body.length + 40);
  const read = method?.responseDeserialize(framed.subarray(5)) as {
    request_body: { response: { body_mutation: { body: Buffer } } };
  };
  assert.ok(read.request_body.response.body_mutation.body.equals(body));
});

/** proto-loader shows a default that was written (a first enum member, an empty text) and hides one that was not. */
function withoutDefaults(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString("hex");
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== "object" || value === null) return value;
  const defaults = new Set<unknown>(["", "CONTINUE", "APPEND_IF_EXISTS_OR_ADD", "DEFAULT", "NONE"]);
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]) => [key, withoutDefaults(each)] as const)
      .filter(([key, each]) => key === "stringValue" || !defaults.has(each)),
  );
}
