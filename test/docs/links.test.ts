import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { findRepoRoot } from "../support/repo-root.js";
import { anchorsIn, documents, linksIn, textOf } from "./support/markdown.js";

const root = findRepoRoot();

/** Why a link leads nowhere; undefined when it leads somewhere, or out of the repository. */
function faultOf(document: string, target: string): string | undefined {
  if (/^[a-z]+:/i.test(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? document : posix.normalize(posix.join(posix.dirname(document), path));
  if (file.startsWith("../") || !existsSync(join(root, file))) return "no such file";
  if (anchor === undefined || !file.endsWith(".md")) return undefined;
  return anchorsIn(textOf(file)).has(anchor) ? undefined : "no such heading";
}

test("every link within the documents leads to a file, and to a heading of it", () => {
  const faults = documents().flatMap((document) =>
    linksIn(textOf(document)).flatMap(({ target, line }) => {
      const fault = faultOf(document, target);
      return fault === undefined ? [] : [`${document}:${line} ${target}: ${fault}`];
    }),
  );
  assert.deepEqual(faults, []);
});

test("a link that leads nowhere is found", () => {
  assert.equal(faultOf("README.md", "docs/no-such-file.md"), "no such file");
  assert.equal(faultOf("docs/operations.md", "#no-such-heading"), "no such heading");
  assert.equal(faultOf("docs/operations.md", "../../elsewhere.md"), "no such file");
  assert.equal(faultOf("docs/operations.md", "configuration.md#the-policy"), undefined);
});

test("every document is reached from README.md", () => {
  const reached = new Set<string>();
  const visit = (document: string): void => {
    if (reached.has(document)) return;
    reached.add(document);
    for (const { target } of linksIn(textOf(document))) {
      const [path = ""] = target.split("#");
      if (/^[a-z]+:/i.test(target) || path === "") continue;
      const file = posix.normalize(posix.join(posix.dirname(document), path)).replace(/\/$/, "");
      if (file.endsWith(".md") && existsSync(join(root, file))) visit(file);
      // A link to a folder is one to all that is in it.
      else
        documents()
          .filter((each) => posix.dirname(each) === file)
          .forEach(visit);
    }
  };
  visit("README.md");
  const alone = documents().filter((document) => !reached.has(document));
  assert.deepEqual(alone, []);
});
