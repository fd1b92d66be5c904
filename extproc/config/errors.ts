/** 1-based, as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One thing that is wrong. */
export interface Problem {
  /** The setting's place in the file; empty when it is about the whole. */
  readonly path: readonly PropertyKey[];
  /** True when the key itself is wrong, not what it holds. */
  readonly isKey?: boolean;
  /** Field, rule and what was given: `log.level must be one of info, warn, got "loud"`. */
  readonly text: string;
  readonly position?: Position | undefined;
}

/** A longer list helps nobody, and it is one line of the log. */
export const MAX_PROBLEMS = 50;

/** The one kind of error for a configuration that can't be used; the message is one line that names every bad field. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(
    readonly problems: readonly Problem[],
    /** The file they are in, when they are in one. */
    readonly file?: string,
    options?: ErrorOptions,
  ) {
    const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => describe(problem, file));
    if (problems.length > MAX_PROBLEMS) shown.push(`and ${problems.length - MAX_PROBLEMS} more`);
    super(`EXTPROC config: ${shown.join("; ")}`, options);
  }

  /** One field that turned out to be wrong when it was used; `rule` goes on after the field's name. */
  static of(path: readonly PropertyKey[], rule: string, cause?: unknown): ConfigError {
    return new ConfigError([{ path, text: `${formatPath(path)} ${rule}` }], undefined, { cause });
  }
}

/** `tokenizers[0].file` */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}

function describe({ text, position }: Problem, file: string | undefined): string {
  if (file === undefined) return text;
  return position === undefined ? `${file} ${text}` : `${file}:${position.line}:${position.column} ${text}`;
}
