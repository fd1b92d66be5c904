import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

export interface WatchTimes {
  /** A file is left alone until it has not changed for this long: editors write in pieces. */
  readonly settleMs: number;
  /** But no longer than this after the first sign. */
  readonly patienceMs: number;
  /** How often the file is looked at, whatever the system tells. */
  readonly pollMs: number;
}

const TIMES: WatchTimes = { settleMs: 100, patienceMs: 1_000, pollMs: 2_000 };

/**
 * Calls `onChange` when the file may hold something else: written in place, replaced by an editor's rename, behind a
 * symbolic link that was swapped (Kubernetes' ConfigMaps), deleted or back. Its folder is watched, since a watch on the
 * file would follow the old one; the poll sees what a folder can't tell (links to elsewhere, network file systems, a
 * folder that was replaced). Keeps no process alive. Returns what ends it.
 */
export function watchFile(file: string, onChange: () => void, times: WatchTimes = TIMES): () => void {
  let seen = identify(file);
  let firstSignAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const settle = () => {
    const now = identify(file);
    const isQuiet = now === seen || performance.now() - (firstSignAt ?? 0) > times.patienceMs;
    seen = now;
    if (!isQuiet) {
      timer = setTimeout(settle, times.settleMs).unref();
      return;
    }
    firstSignAt = undefined;
    onChange();
  };
  const onSign = () => {
    if (firstSignAt !== undefined) return;
    firstSignAt = performance.now();
    seen = identify(file);
    timer = setTimeout(settle, times.settleMs).unref();
  };
  const poll = setInterval(() => {
    if (identify(file) !== seen) onSign();
  }, times.pollMs).unref();
  const watcher = watchFolder(file, onSign);
  return () => {
    clearTimeout(timer);
    clearInterval(poll);
    watcher?.close();
  };
}

/** Undefined where the system has no watches left, or no such folder: then the poll has to do. */
function watchFolder(file: string, onSign: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_, name) => {
      // ConfigMaps swap `..data` beside the file.
      if (name === null || name === basename(file) || name.startsWith("..")) onSign();
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

/** Which file it is and in which state, links followed. */
function identify(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}`;
  } catch (cause) {
    return String((cause as NodeJS.ErrnoException).code);
  }
}
