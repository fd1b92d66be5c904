import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type WatchTimes, watchFile } from "../../../extproc/config/watch.js";
import { waitFor } from "../../support/wait-for.js";

const TIMES: WatchTimes = { settleMs: 20, patienceMs: 200, pollMs: 60_000 };
const POLLED: WatchTimes = { ...TIMES, pollMs: 30 };

interface Watched {
  readonly folder: string;
  readonly file: string;
  /** Resolves when there was a change since it was asked last. */
  change(): Promise<void>;
  changes(): number;
}

/** `prepare` makes the file and says its name. */
async function whileWatching(
  times: WatchTimes,
  prepare: (folder: string) => string,
  check: (watched: Watched) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
  const file = join(folder, prepare(folder));
  let changes = 0;
  let asked = 0;
  const end = watchFile(file, () => changes++, times);
  const change = async () => {
    await waitFor(() => changes > asked, 10_000, "a change");
    // What else the system tells of it has come by then.
    await sleep(3 * times.settleMs);
    asked = changes;
  };
  try {
    await check({ folder, file, change, changes: () => changes });
  } finally {
    end();
    rmSync(folder, { recursive: true, force: true });
  }
}

function plain(folder: string): string {
  writeFileSync(join(folder, "service.yaml"), "a");
  return "service.yaml";
}

/** As Kubernetes mounts a ConfigMap: service.yaml → ..data/service.yaml, ..data → a folder by time. */
function mounted(folder: string): string {
  release(folder, "1", "a");
  symlinkSync("..data/service.yaml", join(folder, "service.yaml"));
  return "service.yaml";
}

function release(folder: string, version: string, text: string): void {
  mkdirSync(join(folder, `..${version}`));
  writeFileSync(join(folder, `..${version}`, "service.yaml"), text);
  symlinkSync(`..${version}`, join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
}

test("sees a file written in place, replaced, deleted and back", () =>
  whileWatching(TIMES, plain, async ({ folder, file, change }) => {
    writeFileSync(file, "b");
    await change();
    writeFileSync(join(folder, "service.yaml.tmp"), "c");
    renameSync(join(folder, "service.yaml.tmp"), file);
    await change();
    unlinkSync(file);
    await change();
    writeFileSync(file, "c");
    await change();
  }));

test("sees a ConfigMap's swapped link, each time", () =>
  whileWatching(TIMES, mounted, async ({ folder, change }) => {
    for (const version of ["2", "3"]) {
      release(folder, version, version);
      await change();
    }
  }));

test("sees by polling what its folder can't tell", () =>
  whileWatching(
    POLLED,
    (folder) => {
      mkdirSync(join(folder, "elsewhere"));
      writeFileSync(join(folder, "elsewhere", "real.yaml"), "a");
      symlinkSync("elsewhere/real.yaml", join(folder, "service.yaml"));
      return "service.yaml";
    },
    async ({ folder, change }) => {
      writeFileSync(join(folder, "elsewhere", "real.yaml"), "bc");
      await change();
      rmSync(join(folder, "elsewhere"), { recursive: true });
      await change();
    },
  ));

test("sees a file whose folder comes later", () =>
  whileWatching(
    POLLED,
    () => "later/service.yaml",
    async ({ folder, file, change }) => {
      mkdirSync(join(folder, "later"));
      writeFileSync(file, "a");
      await change();
    },
  ));

test("is not disturbed by other files of the folder", () =>
  whileWatching(POLLED, plain, async ({ folder, changes }) => {
    writeFileSync(join(folder, "other.yaml"), "a");
    await sleep(150);
    assert.equal(changes(), 0);
  }));

test("waits until a file that is written in pieces is left alone, but not for ever", () =>
  whileWatching({ ...TIMES, settleMs: 200, patienceMs: 1000 }, plain, async ({ file, change, changes }) => {
    for (let piece = 0; piece < 5; piece++) {
      writeFileSync(file, "x".repeat(piece + 1));
      await sleep(10);
    }
    await change();
    assert.equal(changes(), 1);
    const writer = setInterval(() => writeFileSync(file, String(Math.random())), 5);
    await waitFor(() => changes() > 1, 10_000, "a change in spite of the writing");
    clearInterval(writer);
  }));

test("says nothing any more when it has been ended", async () => {
  let changes = 0;
  const folder = mkdtempSync(join(tmpdir(), "llm-breaker-"));
  const file = join(folder, plain(folder));
  const end = watchFile(file, () => changes++, POLLED);
  writeFileSync(file, "b");
  end();
  writeFileSync(file, "c");
  await sleep(150);
  assert.equal(changes, 0);
  rmSync(folder, { recursive: true });
});
