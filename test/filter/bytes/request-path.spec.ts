import { PathRule, pathRoom, writePath } from "../../../filter/bytes/request-path";
import { atMemoryEnd } from "./support";

const NONE = "-";
const kept: ArrayBuffer[] = [];

function bytesOf(text: string): usize {
  const bytes = String.UTF8.encode(text);
  kept.push(bytes);
  return changetype<usize>(bytes);
}

function ruleOf(path: string, prefix: string, query: string, dropsQuery: bool): PathRule {
  const rule = new PathRule();
  if (path !== NONE) {
    rule.path = bytesOf(path);
    rule.pathLength = path.length;
  }
  if (prefix !== NONE) {
    rule.prefix = bytesOf(prefix);
    rule.prefixLength = prefix.length;
  }
  if (query !== NONE) {
    rule.query = bytesOf(query);
    rule.queryLength = query.length;
  }
  rule.dropsQuery = dropsQuery;
  return rule;
}

/** Written to the very end of memory: a byte beyond the room would trap. */
function write(rule: PathRule, caller: string): string {
  const from = bytesOf(caller);
  const to = atMemoryEnd(pathRoom(rule, caller.length));
  const length = writePath(to, rule, from, caller.length);
  expect(length <= pathRoom(rule, caller.length)).toBe(true);
  return String.UTF8.decodeUnsafe(to, length);
}

describe("the path a backend is asked at", () => {
  it("puts a prefix in place of the version", () => {
    const rule = ruleOf(NONE, "/openai/deployments/gpt", NONE, false);
    expect(write(rule, "/v1/chat/completions")).toBe("/openai/deployments/gpt/chat/completions");
    expect(write(rule, "/v1/chat/completions?a=1")).toBe("/openai/deployments/gpt/chat/completions?a=1");
    expect(write(rule, "/v1")).toBe("/openai/deployments/gpt");
  });

  it("leaves a path alone that has no version in front", () => {
    const rule = ruleOf(NONE, "/p", NONE, false);
    expect(write(rule, "/v1beta/models")).toBe("/v1beta/models");
    expect(write(rule, "/v2/chat")).toBe("/v2/chat");
    expect(write(rule, "/")).toBe("/");
    expect(write(rule, "*")).toBe("*");
  });

  it("takes a prefix with or without a slash at its end", () => {
    expect(write(ruleOf(NONE, "/p/", NONE, false), "/v1/chat")).toBe("/p/chat");
    expect(write(ruleOf(NONE, "/", NONE, false), "/v1/chat")).toBe("/chat");
    expect(write(ruleOf(NONE, "", NONE, false), "/v1/chat")).toBe("/chat");
    expect(write(ruleOf(NONE, "", NONE, false), "/v1")).toBe("/");
  });

  it("puts its query in place of the caller's", () => {
    const rule = ruleOf(NONE, NONE, "api-version=2024-10-21", false);
    expect(write(rule, "/v1/chat?key=CALLERS&x=?y")).toBe("/v1/chat?api-version=2024-10-21");
    expect(write(rule, "/v1/chat")).toBe("/v1/chat?api-version=2024-10-21");
    expect(write(ruleOf(NONE, NONE, "?a=1", false), "/v1/chat?b")).toBe("/v1/chat?a=1");
  });

  it("takes an empty query for none", () => {
    expect(write(ruleOf(NONE, NONE, "", false), "/v1/chat?key=CALLERS")).toBe("/v1/chat");
    expect(write(ruleOf(NONE, NONE, "?", false), "/v1/chat?key=CALLERS")).toBe("/v1/chat");
  });

  it("drops the caller's query where it may hold a key", () => {
    expect(write(ruleOf(NONE, NONE, NONE, true), "/v1/chat?key=CALLERS")).toBe("/v1/chat");
    expect(write(ruleOf(NONE, "/p", NONE, true), "/v1/chat?key=CALLERS")).toBe("/p/chat");
    expect(write(ruleOf(NONE, NONE, "a=1", true), "/v1/chat?key=CALLERS")).toBe("/v1/chat?a=1");
    expect(write(ruleOf(NONE, NONE, NONE, true), "?key=CALLERS")).toBe("/");
  });

  it("replaces the whole path, and knows its own query from the caller's", () => {
    expect(write(ruleOf("/fixed?a=1", NONE, NONE, true), "/v1/chat?key=CALLERS")).toBe("/fixed?a=1");
    expect(write(ruleOf("/fixed?a=1", "/p", "b=2", true), "/v1/chat?key=CALLERS")).toBe("/fixed?b=2");
    expect(write(ruleOf("/fixed", NONE, "b=2", false), "/v1/chat?key=CALLERS")).toBe("/fixed?b=2");
  });

  it("is composed only where something must be put together", () => {
    expect(ruleOf(NONE, NONE, NONE, false).isComposed).toBe(false);
    expect(ruleOf("/fixed", NONE, NONE, true).isComposed).toBe(false);
    expect(ruleOf("/fixed", NONE, "a=1", false).isComposed).toBe(true);
    expect(ruleOf(NONE, "/p", NONE, false).isComposed).toBe(true);
    expect(ruleOf(NONE, NONE, NONE, true).isComposed).toBe(true);
  });
});
