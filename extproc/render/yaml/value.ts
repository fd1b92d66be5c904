/** What a rendered file is made of: JSON's values, and values with a comment above them. */
export type YamlValue = string | number | boolean | null | readonly YamlValue[] | YamlMap | Commented;

export interface YamlMap {
  readonly [key: string]: YamlValue | undefined;
}

/** A value whose key, or whose item in a list, has a comment above it. */
export class Commented {
  constructor(
    readonly comment: string,
    readonly value: YamlValue,
  ) {}
}

export function commented(comment: string, value: YamlValue): Commented {
  return new Commented(comment, value);
}

/** The value as a YAML parser gives it: without comments, and without keys that have no value. */
export function plain(value: YamlValue): unknown {
  if (value instanceof Commented) return plain(value.value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as YamlMap).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, plain(each as YamlValue)]));
}
