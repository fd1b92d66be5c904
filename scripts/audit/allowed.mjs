// What an audit lets pass, each with its reason. A line that nothing needs any more fails the audit as well.

/** Licences of what is delivered: permissive ones only. */
export const SHIPPED_LICENCES = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "Python-2.0",
  "Unlicense",
  "Zlib",
];

/** Of what only builds, tests and measures, further ones: none of it is delivered. */
export const TOOL_LICENCES = [
  ...SHIPPED_LICENCES,
  "Artistic-2.0",
  "CC-BY-3.0",
  "CC-BY-4.0",
  "CC0-1.0",
  "MPL-2.0",
  "Public Domain",
  "WTFPL",
];

/**
 * Packages without a licence in the lock file, where each has one all the same.
 * @type {Readonly<Record<string, string>>}
 */
export const LICENCES_READ_BY_HAND = {
  cyclist: "MIT: its README says so; part of npm 6, which as-pect brings along",
  "qrcode-terminal": "Apache-2.0: its LICENSE file; part of npm 6, which as-pect brings along",
};

/**
 * Packages that would run a script when they are installed. None does: .npmrc says ignore-scripts.
 * @type {Readonly<Record<string, string>>}
 */
export const INSTALL_SCRIPTS = {
  "@portkey-ai/gateway": "would apply patches to its dependencies; the package brings none along",
  esbuild: "checks its binary, which is a package of its own",
  "glob-promise": "would fetch its peers anew, whatever the lock file says",
  protobufjs: "warns of its version scheme",
};

/**
 * Advisories of npm's registry that do not concern us, by id; only until a day.
 * @type {Readonly<Record<string, { why: string, until: string }>>}
 */
export const ADVISORIES = {};
