// One process at a time in a folder. Node built-ins only.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const lookEveryMs = 300;

/**
 * Waits until no other process holds the lock, and does the work. A process that was killed holds nothing, though its file is still there.
 * @template T
 * @param {string} file
 * @param {(line: string) => void} say
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, say, work) {
  mkdirSync(dirname(file), { recursive: true });
  let told = 0;
  for (let holder = take(file); holder > 0; holder = take(file)) {
    if (holder !== told) say(`waiting for process ${holder}, which does the same here (${file})`);
    told = holder;
    await delay(lookEveryMs);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * @param {string} file
 * @returns {number} the process that holds it; 0: this one does now
 */
function take(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    // Appears with its content in one step, unlike a file that is created and then written.
    linkSync(own, file);
    return 0;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(own, { force: true });
  }
  const holder = holderOf(file);
  if (holder === undefined || lives(holder)) return holder ?? take(file);
  removeLeftover(file, holder);
  return take(file);
}

/**
 * Another waiter may have removed it already, and hold it now: what is not the dead one's is put back.
 * @param {string} file
 * @param {number} dead
 */
function removeLeftover(file, dead) {
  const taken = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, taken);
    if (holderOf(taken) !== dead) renameSync(taken, file);
    else rmSync(taken, { force: true });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** @param {string} file */
function holderOf(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** @param {number} pid */
function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}
