import { fitsGlob } from "../bytes/glob";
import { Text } from "../host/text";

/** Models that a chain serves: one by its name, or all whose names fit a text with `*` for any text. Letter case counts. */
@final
export class ModelPattern {
  readonly isName: bool;
  private readonly text: Text;

  constructor(readonly source: string) {
    this.text = Text.of(source);
    this.isName = !source.includes("*");
  }

  fits(ptr: usize, length: i32): bool {
    if (this.isName) return this.text.equals(ptr, length);
    return fitsGlob(this.text.ptr, this.text.length, ptr, length);
  }
}
