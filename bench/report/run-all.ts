// Each benchmark in a process of its own: what one leaves behind costs the next nothing, and one that fails stops no other.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ReportedSection, Results } from "./markdown.js";
import type { Section } from "./section.js";

const script = fileURLToPath(new URL("../main.js", import.meta.url));
/** No benchmark takes nearly as long; one that hangs must end. */
const limitMs = 10 * 60_000;

type Outcome = Pick<Results, "sections" | "unmeasured">;
/** When, and what. */
type Origin = Pick<ReportedSection, "date" | "commit">;

export async function runAll(
  names: readonly string[],
  origin: Origin,
  say: (line: string) => void,
): Promise<Outcome> {
  const sections: ReportedSection[] = [];
  const unmeasured: { name: string; why: string }[] = [];
  for (const [at, name] of names.entries()) {
    say(`${at + 1} of ${names.length}: ${name}`);
    const startMs = performance.now();
    try {
      const body = JSON.parse(await runOne(name)) as Omit<Section, "name" | "seconds">;
      const seconds = Math.round((performance.now() - startMs) / 1000);
      sections.push({ name, ...body, seconds, ...origin });
      say(`${name}: ${seconds} s`);
    } catch (error) {
      const why = (error as Error).message;
      say(`${name} failed: ${why}`);
      unmeasured.push({ name, why });
    }
  }
  return { sections, unmeasured };
}

/** Gives its last line; what it says on the way is passed on. */
function runOne(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--enable-source-maps", script, "--only", name, "--section"], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
    });
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      process.stderr.write(text);
      errors = (errors + text).slice(-2_000);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve(output.trimEnd().split("\n").at(-1) ?? "");
      else reject(new Error(errors.trimEnd().split("\n").at(-1) || `ended with ${signal ?? code}`));
    });
  });
}
