// What package.json and package-lock.json must be, so that an install gives the same bytes to everybody, and runs none of them.
import { INSTALL_SCRIPTS, LICENCES_READ_BY_HAND, SHIPPED_LICENCES, TOOL_LICENCES } from "./allowed.mjs";
import { isAllowed } from "./licences.mjs";

/**
 * @typedef {{ version?: string, resolved?: string, integrity?: string, license?: string, dev?: boolean, link?: boolean, inBundle?: boolean,
 *   hasInstallScript?: boolean, bundleDependencies?: unknown } & Record<string, unknown>} Locked
 * @typedef {{ lockfileVersion?: number, packages?: Record<string, Locked> }} Lock
 */

const KINDS = ["dependencies", "devDependencies", "optionalDependencies"];
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?(\+[\w.]+)?$/;
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;
const REGISTRY = "https://registry.npmjs.org/";

/**
 * Faults of one package.json and its lock, each a line.
 * @param {Record<string, any>} manifest
 * @param {Lock} lock
 * @param {{ isShipped: boolean }} where whether what is no development dependency is delivered
 * @returns {string[]}
 */
export function npmFaults(manifest, lock, { isShipped }) {
  const packages = lock.packages ?? {};
  const faults = lock.lockfileVersion === 3 ? [] : ["the lock file must be of version 3"];
  faults.push(...pinFaults(manifest), ...rootFaults(manifest, packages[""]));
  for (const [path, locked] of Object.entries(packages)) {
    if (path !== "") faults.push(...packageFaults(path, locked, packages, isShipped));
  }
  return faults;
}

/** @param {Record<string, any>} manifest */
function pinFaults(manifest) {
  const asked = KINDS.flatMap((kind) => Object.entries(manifest[kind] ?? {}));
  return [...asked, ...leaves(manifest.overrides ?? {})]
    .filter(([, version]) => !EXACT.test(version))
    .map(([name, version]) => `${name} must be pinned to an exact version, got "${version}"`);
}

/**
 * @param {Record<string, any>} overrides
 * @returns {[string, string][]}
 */
function leaves(overrides) {
  return Object.entries(overrides).flatMap(([name, value]) =>
    typeof value === "string" ? [/** @type {[string, string]} */ ([name, value])] : leaves(value),
  );
}

/**
 * The lock is that of this package.json.
 * @param {Record<string, any>} manifest
 * @param {Locked | undefined} root
 */
function rootFaults(manifest, root) {
  if (root === undefined) return ["the lock file has no packages"];
  return KINDS.filter((kind) => sorted(manifest[kind]) !== sorted(root[kind])).map(
    (kind) => `the lock file's ${kind} are not those of package.json`,
  );
}

/** @param {unknown} asked */
function sorted(asked) {
  return JSON.stringify(Object.entries(asked ?? {}).sort());
}

/**
 * @param {string} path
 * @param {Locked} locked
 * @param {Record<string, Locked>} packages
 * @param {boolean} isShipped
 */
function packageFaults(path, locked, packages, isShipped) {
  const name = nameAt(path);
  const what = `${name} ${locked.version ?? ""}`;
  const faults = [];
  if (locked.link || !path.includes("node_modules/")) faults.push(`${what} is a folder, not a package`);
  if (!EXACT.test(locked.version ?? "")) faults.push(`${what} has no exact version`);
  if (locked.resolved !== undefined && !locked.resolved.startsWith(REGISTRY))
    faults.push(`${what} comes from ${locked.resolved}, not from the registry`);
  if (!hasIntegrity(path, locked, packages)) faults.push(`${what} has no SHA-512 integrity`);
  if (locked.hasInstallScript && INSTALL_SCRIPTS[name] === undefined)
    faults.push(`${what} has an install script that nobody has looked at`);
  const licences = isShipped && !locked.dev ? SHIPPED_LICENCES : TOOL_LICENCES;
  const isRead = locked.license === undefined && LICENCES_READ_BY_HAND[name] !== undefined && locked.dev;
  const licence = locked.license ?? "none";
  // Old packages have words there that are no SPDX expression.
  if (!isRead && !licences.includes(licence) && !isAllowed(licence, licences))
    faults.push(`${what} has the licence ${licence}, which is not allowed`);
  return faults;
}

/**
 * What comes inside of another package's tarball is covered by that one's hash.
 * @param {string} path
 * @param {Locked} locked
 * @param {Record<string, Locked>} packages
 * @returns {boolean}
 */
function hasIntegrity(path, locked, packages) {
  if (!locked.inBundle) return INTEGRITY.test(locked.integrity ?? "");
  const outer = path.slice(0, path.lastIndexOf("/node_modules/"));
  const parent = packages[outer];
  if (parent === undefined) return false;
  return parent.inBundle || parent.bundleDependencies ? hasIntegrity(outer, parent, packages) : false;
}

/**
 * Lines of the allow-lists that no lock file needs.
 * @param {readonly Lock[]} locks
 * @returns {string[]}
 */
export function unusedAllowances(locks) {
  const all = locks.flatMap(({ packages = {} }) => Object.entries(packages));
  const scripts = new Set(
    all.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameAt(path)),
  );
  const unnamed = new Set(
    all.filter(([, { license }]) => license === undefined).map(([path]) => nameAt(path)),
  );
  return [
    ...Object.keys(INSTALL_SCRIPTS).filter((name) => !scripts.has(name)),
    ...Object.keys(LICENCES_READ_BY_HAND).filter((name) => !unnamed.has(name)),
  ].map((name) => `scripts/audit/allowed.mjs: nothing needs the line of ${name} any more`);
}

/** @param {string} path */
function nameAt(path) {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}
