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
  writeFileSync(own, `${process.pid} ${startOf(process.pid)}`);
  try {
    // Appears with its content in one step, unlike a file that is created and then written.
    linkSync(own, file);
    return 0;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(own, { force: true });
  }
  const words = contentOf(file);
  const holder = words === undefined ? 0 : livingHolder(words);
  if (holder > 0) return holder;
  if (words !== undefined) removeLeftover(file, words);
  return take(file);
}

/**
 * Another waiter may have removed it already, and hold it now: what is not the dead one's is put back.
 * @param {string} file
 * @param {string} dead what it says
 */
function removeLeftover(file, dead) {
  const taken = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, taken);
    if (contentOf(taken) !== dead) renameSync(taken, file);
    else rmSync(taken, { force: true });
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** @param {string} file */
function contentOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * @param {string} words a process and when it began
 * @returns {number} that process; 0: it is gone, and its number may be another's by now, this one's included
 */
function livingHolder(words) {
  const [, pid, start] = /^([1-9]\d*) ?(\d*)$/.exec(words) ?? [];
  if (pid === undefined || Number(pid) === process.pid) return 0;
  const startNow = startOf(Number(pid));
  if (start && startNow && start !== startNow) return 0;
  return lives(Number(pid)) ? Number(pid) : 0;
}

/**
 * When a process began, in ticks since the machine did: numbers come again, in a container even at once.
 * @param {number} pid
 * @returns {string} nothing where it is not told, as on other systems than Linux
 */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name before it is anybody's, with blanks and brackets.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
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
