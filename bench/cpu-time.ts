import { readdirSync, readFileSync } from "node:fs";

const nanosecondsPerTick = 10_000_000;

/**
 * CPU time that all threads of a process have used, in nanoseconds. From the scheduler's own count, exact to the
 * nanosecond; where the kernel has none (`CONFIG_SCHED_INFO`), utime + stime of /proc/<pid>/stat, in steps of 10 ms.
 */
export function cpuNanoseconds(pid: number): number {
  let total = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ")[0]);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return ticks(pid) * nanosecondsPerTick;
  }
  return total;
}

/** The process's name may hold spaces and parentheses, so fields are counted from behind it. */
function ticks(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
