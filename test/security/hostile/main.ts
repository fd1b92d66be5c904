import { parseArgs } from "node:util";
import { HostileRig } from "./run.js";

const usage = `Usage: npm run test:hostile -- [options]
  --seed N     what is drawn (default 1)
  --cases N    of callers over HTTP/1.1, of callers over HTTP/2, and of backends: so many each (default 20000)`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seed: { type: "string", default: "1" }, cases: { type: "string", default: "20000" } },
  });
  const [seed, cases] = [Number(values.seed), Number(values.cases)];
  if (!Number.isSafeInteger(seed) || !(cases > 0)) throw new Error(usage);
  const hostile = await HostileRig.start();
  let failed = 0;
  try {
    for (const part of ["callers", "backends"] as const) {
      const { findings, ...figures } = await hostile[part]({ seed, cases });
      if (findings.length > 0) failed++;
      console.log(`${part}: ${JSON.stringify(figures)}`);
      for (const finding of findings.slice(0, 20)) console.log(`  ${finding}`);
    }
  } finally {
    await hostile.stop();
  }
  console.log(`${2 - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

main().catch((error: Error) => {
  console.error(error.message === usage ? usage : error);
  process.exitCode = 1;
});
