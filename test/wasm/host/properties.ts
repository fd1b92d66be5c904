import { marshalPairs } from "./pairs.js";

/** Strings as they are, numbers as a double, bigints as 64-bit integers, booleans as a byte, objects as pairs. */
export type PropertyValue = string | number | bigint | boolean | Buffer | PropertyTree;

export interface PropertyTree {
  readonly [segment: string]: PropertyValue;
}

/** Follows a path whose segments were joined by NUL. */
export function lookUp(tree: PropertyTree, path: string): PropertyValue | undefined {
  let value: PropertyValue | undefined = tree;
  for (const segment of path.split("\0")) {
    if (typeof value !== "object" || Buffer.isBuffer(value)) return undefined;
    value = (value as PropertyTree)[segment];
  }
  return value;
}

/** A value's bytes as Envoy gives them to wasm. */
export function serialize(value: PropertyValue): Buffer {
  if (Buffer.isBuffer(value)) return value;
  switch (typeof value) {
    case "string":
      return Buffer.from(value, "latin1");
    case "boolean":
      return Buffer.from([value ? 1 : 0]);
    case "number": {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(value);
      return bytes;
    }
    case "bigint": {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      return bytes;
    }
    default:
      return marshalPairs(
        Object.entries(value).map(([name, each]) => [Buffer.from(name, "latin1"), serialize(each)]),
      );
  }
}
