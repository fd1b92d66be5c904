import assert from "node:assert/strict";
import { test } from "node:test";
import { describeRequest } from "../../../extproc/telemetry/request-fields.js";

test("logs allowed headers and the path without its query, and nothing else of a request", () => {
  const fields = describeRequest(
    new Map([
      [":method", "POST"],
      [":path", "/v1/chat/completions?api-key=secret"],
      ["authorization", "Bearer secret"],
      ["x-api-key", "secret"],
      ["cookie", "secret"],
      ["x-request-id", "r".repeat(500)],
      ["content-length", "12"],
    ]),
  );
  assert.deepEqual(fields, {
    ":method": "POST",
    path: "/v1/chat/completions",
    "x-request-id": "r".repeat(200),
    "content-length": "12",
  });
});
