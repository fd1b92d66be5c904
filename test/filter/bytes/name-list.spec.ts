import { listHas } from "../../../filter/bytes/name-list";
import { atMemoryEnd } from "./support";

function has(list: string, name: string): bool {
  const bytes = String.UTF8.encode(list);
  const at = atMemoryEnd(bytes.byteLength);
  memory.copy(at, changetype<usize>(bytes), bytes.byteLength);
  const wanted = String.UTF8.encode(name);
  return listHas(at, bytes.byteLength, changetype<usize>(wanted), wanted.byteLength);
}

describe("a list of names", () => {
  it("has the names between its commas, whatever blanks are around them", () => {
    expect(has("gpu, small", "gpu")).toBe(true);
    expect(has("gpu, small", "small")).toBe(true);
    expect(has("  gpu  ,small", "gpu")).toBe(true);
    expect(has(",,gpu", "gpu")).toBe(true);
  });

  it("has no part of a name, and no other", () => {
    expect(has("gpu2, small", "gpu")).toBe(false);
    expect(has("gpu", "gpu2")).toBe(false);
    expect(has("a b", "b")).toBe(false);
    expect(has("", "gpu")).toBe(false);
    expect(has(" , ,", "")).toBe(false);
  });
});
