export interface TapTest {
  readonly name: string;
  readonly passed: boolean;
}

/** The top-level tests of a TAP report. One that was skipped or left as to-do has not passed. */
export function readTap(lines: readonly string[]): TapTest[] {
  return lines.flatMap((line) => {
    const [, not, name] = /^(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const [plain = "", directive] = name.split(/ # (?=SKIP|TODO)/);
    return [{ name: plain.replaceAll("\\#", "#"), passed: !not && directive === undefined }];
  });
}
