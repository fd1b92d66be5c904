import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { findRepoRoot } from "../support/repo-root.js";

// What the audit of packages finds. That ours are as they should be is `npm test -- --only audit`.

type Faults = string[];

/** Scripts run before there is a compiler, so they are imported where they lie. */
interface Audit {
  npmFaults(manifest: object, lock: object, where: { isShipped: boolean }): Faults;
  unusedAllowances(locks: readonly object[]): Faults;
  goFaults(mod: string, sum: string | undefined): Faults;
  cargoFaults(manifest: string, lock: string | undefined): Faults;
  advisoryFaults(answer: object, today: Date, allowed: Readonly<Record<string, object>>): Faults;
}
let audit: Audit;

before(async () => {
  const load = (name: string) => import(pathToFileURL(join(findRepoRoot(), "scripts", "audit", name)).href);
  audit = Object.assign(
    {},
    ...(await Promise.all(["npm-lock.mjs", "other-locks.mjs", "advisories.mjs"].map(load))),
  );
});

const integrity = `sha512-${"A".repeat(86)}==`;
const good = { version: "1.2.3", integrity, license: "MIT" };
const lockOf = (changes: object, path = "node_modules/a", asked = "1.2.3") => ({
  lockfileVersion: 3,
  packages: { "": { dependencies: { a: asked } }, [path]: { ...good, ...changes } },
});
const faultsOf = (lock: object, asked = "1.2.3", more: object = {}) =>
  audit.npmFaults({ dependencies: { a: asked }, ...more }, lock, { isShipped: true }).join("\n");

describe("of npm's packages", () => {
  test("what is pinned, hashed and free passes", () => {
    assert.equal(faultsOf(lockOf({})), "");
    assert.equal(faultsOf(lockOf({ license: "(WTFPL OR (MIT AND ISC))" })), "");
    assert.equal(faultsOf(lockOf({ resolved: "https://registry.npmjs.org/a/-/a-1.2.3.tgz" })), "");
    assert.equal(faultsOf(lockOf({ dev: true, license: "Artistic-2.0" })), "");
  });

  for (const asked of [
    "^1.2.3",
    "1.x",
    "*",
    "latest",
    "git+https://x.example/a.git",
    "file:../a",
    "https://x.example/a.tgz",
  ]) {
    test(`${asked} is no exact version`, () => {
      assert.match(faultsOf(lockOf({}, undefined, asked), asked), /^a must be pinned to an exact version/);
    });
  }

  test("an override is to be exact, however deep", () => {
    const more = { overrides: { b: { c: "^1.0.0" } } };
    assert.match(faultsOf(lockOf({}), "1.2.3", more), /^c must be pinned/);
  });

  const broken: Readonly<Record<string, readonly [lock: object, told: RegExp]>> = {
    "a lock of another package.json": [lockOf({}, undefined, "1.2.4"), /dependencies are not those/],
    "no integrity": [lockOf({ integrity: undefined }), /a 1\.2\.3 has no SHA-512/],
    "an old kind of integrity": [lockOf({ integrity: "sha1-AAAA" }), /has no SHA-512/],
    "another registry": [lockOf({ resolved: "https://x.example/a.tgz" }), /comes from https:\/\/x/],
    "a registry without TLS": [lockOf({ resolved: "http://registry.npmjs.org/a.tgz" }), /comes from http:/],
    git: [lockOf({ resolved: "git+ssh://git@x.example/a.git#1" }), /comes from git/],
    "a linked folder": [lockOf({ link: true }), /is a folder/],
    "a folder of the checkout": [lockOf({}, "packages/a"), /is a folder/],
    "an unknown install script": [lockOf({ hasInstallScript: true }), /install script that nobody/],
    "no licence": [lockOf({ license: undefined }), /licence none/],
    "a licence that binds": [lockOf({ license: "GPL-3.0" }), /licence GPL-3\.0/],
    "one of two that binds": [lockOf({ license: "(MIT AND GPL-3.0)" }), /is not allowed/],
    "a tool's licence in what is delivered": [lockOf({ license: "MPL-2.0" }), /is not allowed/],
    "a lock of another version": [{ ...lockOf({}), lockfileVersion: 1 }, /version 3/],
    "a bundled package in nobody's tarball": [
      lockOf({ inBundle: true, integrity: undefined }, "node_modules/b/node_modules/a"),
      /has no SHA-512/,
    ],
  };
  for (const [what, [lock, told]] of Object.entries(broken)) {
    test(`${what} is a fault`, () => assert.match(faultsOf(lock), told));
  }

  test("lines of the allow-lists that nothing needs are told", () => {
    assert.match(audit.unusedAllowances([lockOf({})]).join(), /the line of esbuild/);
  });
});

describe("of Go's modules and Rust's crates", () => {
  const sum = `x.example/a v1.0.0 h1:${"A".repeat(43)}=\nx.example/a v1.0.0/go.mod h1:${"A".repeat(43)}=\n`;
  const crate = (source: string, checksum: string) =>
    `[[package]]\nname = "me"\nversion = "0.1.0"\n\n[[package]]\nname = "a"\nversion = "1.0.0"\nsource = "${source}"\nchecksum = "${checksum}"\n`;
  const crates = "registry+https://github.com/rust-lang/crates.io-index";
  const manifest = '[package]\nname = "me"\n\n[dependencies]\na = "=1.0.0"\n';

  test("what is hashed passes", () => {
    assert.deepEqual(audit.goFaults("module m\n\nrequire x.example/a v1.0.0\n", sum), []);
    assert.deepEqual(audit.cargoFaults(manifest, crate(crates, "a".repeat(64))), []);
  });

  test("a module without a hash, a replaced one, and none at all are faults", () => {
    assert.match(
      audit.goFaults("require (\n\tx.example/b v1.0.0\n)\n", sum).join(),
      /x\.example\/b v1\.0\.0 has no hash/,
    );
    assert.match(audit.goFaults("replace x.example/a => ../a\n", sum).join(), /replaces/);
    assert.match(audit.goFaults("module m\n", undefined).join(), /no go\.sum/);
  });

  test("a crate from elsewhere, without a checksum, or not pinned is a fault", () => {
    assert.match(
      audit.cargoFaults(manifest, crate("git+https://x.example/a", "")).join("; "),
      /comes from git.*no checksum/,
    );
    assert.match(
      audit.cargoFaults('[dependencies]\na = "1"\n', crate(crates, "a".repeat(64))).join(),
      /pinned/,
    );
    const loose = '[dependencies]\na = { version = "1.0", features = [] }\n';
    assert.match(audit.cargoFaults(loose, crate(crates, "a".repeat(64))).join(), /a must be pinned/);
    assert.match(
      audit
        .cargoFaults('[dependencies.a]\ngit = "https://x.example"\n', crate(crates, "a".repeat(64)))
        .join(),
      /a git dependency/,
    );
    assert.match(audit.cargoFaults(manifest, undefined).join(), /no Cargo\.lock/);
  });
});

describe("of advisories", () => {
  const url = "https://github.com/advisories/GHSA-aaaa-bbbb-cccc";
  const answerOf = (severity: string) => ({
    vulnerabilities: { a: { via: [{ name: "a", severity, title: "bad", url }, "b"] }, c: { via: ["a"] } },
  });
  const today = new Date("2026-06-01T00:00:00Z");
  const until = (day: string) => ({ "GHSA-aaaa-bbbb-cccc": { why: "not used", until: day } });

  test("high and critical ones are faults, once each", () => {
    for (const severity of ["high", "critical"]) {
      assert.equal(audit.advisoryFaults(answerOf(severity), today, {}).length, 1);
    }
    assert.deepEqual(audit.advisoryFaults(answerOf("moderate"), today, {}), []);
  });

  test("what is allowed is so until its day, and as long as there is such an advisory", () => {
    assert.deepEqual(audit.advisoryFaults(answerOf("high"), today, until("2026-06-01")), []);
    assert.match(audit.advisoryFaults(answerOf("high"), today, until("2026-05-31")).join(), /a: high, bad/);
    assert.match(
      audit.advisoryFaults({ vulnerabilities: {} }, today, until("2027-01-01")).join(),
      /nothing needs/,
    );
  });
});
