import type { z } from "zod";
import { readDocument, type SettingsDocument } from "./document.js";
import { ConfigError, MAX_PROBLEMS } from "./errors.js";
import { describeIssue } from "./issues.js";
import { readText } from "./text.js";

/**
 * Defaults, then everything validated at once.
 * @throws ConfigError that names each bad field, the rule and what was given.
 */
export function checkSettings<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  const parsed = schema.safeParse(raw ?? {}, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.flatMap((issue) => describeIssue(issue)));
}

/** A YAML file of settings. */
export class SettingsFile<Schema extends z.ZodType> {
  /** `source` is what named the file, for the message when it can't be read. */
  constructor(
    private readonly schema: Schema,
    readonly path: string,
    private readonly source: string,
  ) {}

  /** @throws ConfigError when it can't be read. */
  read(): string {
    try {
      return readText(this.path);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const rule = `${this.source} must name a readable YAML file (unset it for the defaults)`;
      const text = `${rule}, got ${JSON.stringify(this.path)}: ${reason}`;
      throw new ConfigError([{ path: [], text }], undefined, { cause });
    }
  }

  /** @throws ConfigError with line and column of everything that is wrong. */
  parse(text: string): z.output<Schema> {
    const document = readDocument(text);
    if ("problems" in document) throw new ConfigError(document.problems, this.path);
    try {
      return checkSettings(this.schema, document.value);
    } catch (cause) {
      throw cause instanceof ConfigError ? this.locate(cause, document) : cause;
    }
  }

  /** The same error with line and column of each field in `text`. */
  locateIn(error: ConfigError, text: string): ConfigError {
    const document = readDocument(text);
    return "problems" in document ? error : this.locate(error, document);
  }

  private locate({ problems, cause }: ConfigError, document: SettingsDocument): ConfigError {
    // The others are only counted, and to find a place takes a walk.
    const located = problems.map((problem, index) =>
      index < MAX_PROBLEMS
        ? { ...problem, position: document.positionOf(problem.path, problem.isKey === true) }
        : problem,
    );
    return new ConfigError(located, this.path, { cause });
  }
}
