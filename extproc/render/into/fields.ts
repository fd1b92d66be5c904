import { isMap } from "../policy-text.js";
import type { YamlValue } from "../yaml/value.js";

/** Part of someone's configuration. */
export type Fields = Readonly<Record<string, unknown>>;
export type Path = readonly PropertyKey[];

/** The name as the file spells it: Envoy takes `http_filters` and `httpFilters`. */
export function nameIn(fields: Fields, name: string): string {
  const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.hasOwn(fields, name) || !Object.hasOwn(fields, camel) ? name : camel;
}

export function get(fields: Fields, name: string): unknown {
  return fields[nameIn(fields, name)];
}

export function mapIn(fields: Fields, name: string): Fields {
  const value = get(fields, name);
  return isMap(value) ? value : {};
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = get(fields, name);
  return Array.isArray(value) ? value : [];
}

/** The same with one field set, at its place if it is there. */
export function put(fields: Fields, name: string, value: unknown): Fields {
  return { ...fields, [nameIn(fields, name)]: value };
}

/** Set only where it is absent. */
export function putNew(fields: Fields, name: string, value: unknown): Fields {
  return get(fields, name) === undefined ? put(fields, name, value) : fields;
}

export function without(fields: Fields, name: string): Fields {
  const spelled = nameIn(fields, name);
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== spelled));
}

/** What was read from the file, with ours in it, is what is going to be written. */
export function asYaml(fields: unknown): YamlValue {
  return fields as YamlValue;
}

export function nameOf(fields: unknown): string {
  const name = isMap(fields) ? fields.name : undefined;
  return typeof name === "string" ? name : "";
}

/** Seconds of a protobuf duration; undefined when it is none. */
export function secondsOf(value: unknown): number | undefined {
  const [, number] = /^(\d+(?:\.\d+)?)s$/.exec(String(value)) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** What whoever runs it has to know, and what stands in the way, each at its place in the file. */
export class Findings {
  readonly notes: { path: Path; text: string }[] = [];
  readonly faults: { path: Path; text: string }[] = [];

  note(path: Path, text: string): void {
    this.notes.push({ path, text });
  }

  fault(path: Path, text: string): void {
    this.faults.push({ path, text });
  }
}
