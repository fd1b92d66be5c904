import { scanElements, scanTopLevel } from "../body/top-level.js";

/** JSON that is put into a body as it is: a number of any size keeps its digits. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** The bytes of an object's member, of duplicates the last; undefined when there is none or `object` is no object. */
export function rawMember(object: Buffer | undefined, key: string): Buffer | undefined {
  if (object === undefined) return undefined;
  const member = scanTopLevel(object)?.members.findLast((candidate) => candidate.key === key);
  return member && object.subarray(member.valueStart, member.valueEnd);
}

/** The bytes of an array's elements; none when `array` is no array. */
export function rawElements(array: Buffer | undefined): Buffer[] {
  if (array === undefined) return [];
  return (scanElements(array) ?? []).map(({ start, end }) => array.subarray(start, end));
}

/** JSON.stringify with `RawJson` in it; members that are undefined are left out. */
export function printJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(printJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${printJson(member)}`).join(",")}}`;
}
