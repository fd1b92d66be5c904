import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MESSAGE_KINDS } from "../../../extproc/messages.js";
import { REPEATED } from "../../../extproc/request-headers.js";
import { readProcessingRequest } from "../../../extproc/wire/processing-request.js";
import { WireError } from "../../../extproc/wire/reader.js";
import type { ProcessingRequest } from "../support/processing.js";
import { loadExternalProcessor } from "../support/protos.js";

const method = loadExternalProcessor().Process;
const serialize = (message: object): Buffer => method?.requestSerialize(message) ?? Buffer.alloc(0);
const NAMESPACE = "envoy.filters.http.ext_proc";

const text = fc.string({ unit: "grapheme", maxLength: 300 });
const name = fc.stringMatching(/^[:a-zA-Z][a-zA-Z0-9-]{0,30}$/);
const header = fc.oneof(
  fc.record({ key: name, raw_value: text.map((value) => Buffer.from(value)) }),
  fc.record({ key: name, value: text }),
);
const headers = fc.record({
  headers: fc.record({ headers: fc.array(header, { maxLength: 20 }) }),
  end_of_stream: fc.boolean(),
});
const body = fc.record({ body: fc.uint8Array({ maxLength: 70_000 }), end_of_stream: fc.boolean() });
const scalar = fc.oneof(
  text.map((stringValue) => ({ stringValue })),
  fc.double({ noNaN: true }).map((numberValue) => ({ numberValue })),
  fc.constantFrom(
    { boolValue: true },
    { nullValue: 0 },
    { listValue: { values: [{ stringValue: "x" }] } },
    { structValue: { fields: { a: { numberValue: 1 } } } },
  ),
);
const attributes = fc.dictionary(
  fc.constantFrom(NAMESPACE, "other"),
  fc.record({ fields: fc.dictionary(text, scalar, { noNullPrototype: true }) }),
  { noNullPrototype: true },
);
const part = fc.oneof(
  fc.record({ request_headers: headers }),
  fc.record({ response_headers: headers }),
  fc.record({ request_body: body }),
  fc.record({ response_body: body }),
  fc.record({ request_trailers: fc.constant({}) }),
  fc.record({ response_trailers: fc.constant({ trailers: { headers: [{ key: "a", value: "b" }] } }) }),
);
const beside = fc.record(
  {
    attributes,
    observability_mode: fc.boolean(),
    metadata_context: fc.constant({ filter_metadata: { x: { fields: { y: { stringValue: "z" } } } } }),
  },
  { requiredKeys: [] },
);

/** What a message should be read as, from what proto-loader was given. */
function expected(message: ProcessingRequest) {
  const kind = MESSAGE_KINDS.find((each) => message[each] !== undefined);
  const headersPart = message.request_headers ?? message.response_headers;
  const bodyPart = message.request_body ?? message.response_body;
  const values = new Map<string, string>();
  for (const { key = "", value, raw_value } of headersPart?.headers?.headers ?? []) {
    const field = raw_value ? Buffer.from(raw_value).toString() : (value ?? "");
    const earlier = values.get(key.toLowerCase());
    values.set(key.toLowerCase(), earlier === undefined ? field : earlier + REPEATED + field);
  }
  const fields = Object.entries(message.attributes?.[NAMESPACE]?.fields ?? {});
  const scalars = fields.flatMap(([key, { stringValue, numberValue }]) => {
    const value = stringValue ?? numberValue;
    return value === undefined ? [] : [[key, String(value)] as const];
  });
  return {
    kind,
    headers: values,
    body: Buffer.from(bodyPart?.body ?? []),
    isEnd: (headersPart ?? bodyPart ?? { end_of_stream: true }).end_of_stream ?? false,
    attributes: new Map(scalars),
    isObserved: message.observability_mode ?? false,
  };
}

test("reads what Envoy's definitions write", () => {
  fc.assert(
    fc.property(part, beside, (given, more) => {
      const message = { ...given, ...more } as ProcessingRequest;
      assert.deepEqual(readProcessingRequest(serialize(message)), expected(message));
    }),
  );
});

test("reads any bytes in bounded time, or tells that they are no message", () => {
  const valid = fc.tuple(part, beside).map(([given, more]) => serialize({ ...given, ...more }));
  const mangled = fc.tuple(valid, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });
  const cut = fc.tuple(valid, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1)));
  const noise = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(noise, mangled, cut), (bytes) => {
      try {
        const message = readProcessingRequest(bytes);
        assert.ok(message === undefined || message.body.length <= bytes.length);
      } catch (cause) {
        assert.ok(cause instanceof WireError);
      }
    }),
    { numRuns: 2000 },
  );
});

test("knows nothing of a message without a part, or with one of the future", () => {
  assert.equal(readProcessingRequest(Buffer.alloc(0)), undefined);
  assert.equal(readProcessingRequest(Buffer.from([0x7a, 0x01, 0x00])), undefined);
});
