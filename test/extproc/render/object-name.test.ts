import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { objectName } from "../../../extproc/render/targets/mesh/object-name.js";

test("a name that fits stays as it is, in the letters that Kubernetes takes", () => {
  assert.equal(objectName(["llm-breaker", "Chat.example.com"]), "llm-breaker-chat-example-com");
});

test("long names of one beginning are two objects", () => {
  const long = "a".repeat(63);
  const [one, other] = [objectName(["llm", `${long}x`]), objectName(["llm", `${long}y`])];
  assert.notEqual(one, other);
  assert.equal(one.length, 63);
});

test("any name is one that Kubernetes takes", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), fc.integer({ min: 20, max: 63 }), (name, limit) => {
      assert.match(objectName(["llm", name], limit), /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
      assert.ok(objectName(["llm", name], limit).length <= limit);
    }),
  );
});
