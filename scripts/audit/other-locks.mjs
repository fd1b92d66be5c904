// The same for what benchmarks are compared with: Go's and Rust's own lock files.

const GO_HASH = /^\S+ v[\w.+-]+(\/go\.mod)? h1:[A-Za-z0-9+/]{43}=$/;
const CRATES = "registry+https://github.com/rust-lang/crates.io-index";

/**
 * @param {string} mod text of a go.mod
 * @param {string | undefined} sum text of its go.sum
 * @returns {string[]}
 */
export function goFaults(mod, sum) {
  if (sum === undefined) return ["there is no go.sum beside go.mod"];
  const faults = /^\s*replace\b/m.test(mod) ? ["go.mod replaces a module"] : [];
  const lines = sum.split("\n").filter((line) => line !== "");
  faults.push(
    ...lines.filter((line) => !GO_HASH.test(line)).map((line) => `go.sum has an odd line: ${line}`),
  );
  for (const [, name, version] of mod.matchAll(/^\s*(?:require )?([\w.-]+\.[\w./-]+) (v[\w.+-]+)/gm)) {
    if (
      !lines.some(
        (line) =>
          line.startsWith(`${name} ${version} h1:`) || line.startsWith(`${name} ${version}/go.mod h1:`),
      )
    )
      faults.push(`${name} ${version} has no hash in go.sum`);
  }
  return faults;
}

/**
 * @param {string} manifest text of a Cargo.toml
 * @param {string | undefined} lock text of its Cargo.lock
 * @returns {string[]}
 */
export function cargoFaults(manifest, lock) {
  if (lock === undefined) return ["there is no Cargo.lock beside Cargo.toml"];
  const faults = /\bgit\s*=\s*"|\bpath\s*=\s*"(?!\.\.\/[\w-]+")/.test(dependenciesOf(manifest))
    ? ["Cargo.toml has a git dependency, or one from outside of its workspace"]
    : [];
  for (const [, name, version = ""] of dependenciesOf(manifest).matchAll(
    /^([\w-]+)\s*=\s*(?:\{.*?version\s*=\s*)?"([^"]*)"/gm,
  )) {
    // Cargo takes "1.2.3" for "1.2.3 or later".
    if (!/^=\d+\.\d+\.\d+/.test(version)) faults.push(`${name} must be pinned as "=1.2.3", got "${version}"`);
  }
  for (const block of lock.split("[[package]]").slice(1)) {
    const field = (/** @type {string} */ key) => new RegExp(`^${key} = "([^"]*)"`, "m").exec(block)?.[1];
    const source = field("source");
    // Only the workspace's own package has none.
    if (source === undefined) continue;
    const what = `${field("name")} ${field("version")}`;
    if (source !== CRATES) faults.push(`${what} comes from ${source}, not from crates.io`);
    if (!/^[0-9a-f]{64}$/.test(field("checksum") ?? "")) faults.push(`${what} has no checksum`);
  }
  return faults;
}

/** @param {string} manifest */
function dependenciesOf(manifest) {
  return manifest
    .split(/^(?=\[)/m)
    .filter((section) => /^\[(?:[\w.'"()-]*\.)?(?:dev-|build-)?dependencies(?:\.[\w-]+)?\]/.test(section))
    .join("\n");
}
