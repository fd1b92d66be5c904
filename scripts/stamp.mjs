// Tells whether a build step's inputs changed since it last succeeded.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * SHA-256 over names and contents, so that a fresh checkout with other mtimes is not rebuilt.
 * @param {string} root
 * @param {string[]} inputs files, or folders of which each file that ends in `extensions` counts
 * @param {string[]} extensions
 */
export function hashOf(root, inputs, extensions) {
  const hash = createHash("sha256");
  for (const input of inputs) {
    for (const file of filesBelow(join(root, input), extensions)) {
      hash
        .update(`${file.slice(root.length)}\0`)
        .update(readFileSync(file))
        .update("\0");
    }
  }
  return hash.digest("hex");
}

/**
 * @param {string} path
 * @param {string[]} extensions
 * @returns {string[]} sorted
 */
export function filesBelow(path, extensions) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.includes("node_modules") && extensions.some((end) => name.endsWith(end)))
    .sort()
    .map((name) => join(path, name));
}

/**
 * @param {string} stampFile
 * @param {string} hash
 */
export function isStamped(stampFile, hash) {
  return existsSync(stampFile) && readFileSync(stampFile, "utf8") === hash;
}

/**
 * @param {string} stampFile
 * @param {string} hash
 */
export function stamp(stampFile, hash) {
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, hash);
}
