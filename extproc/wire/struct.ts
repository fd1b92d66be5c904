import type { WireStruct, WireValue } from "../messages.js";
import type { Writer } from "./writer.js";

/** The fields of a google.protobuf.Struct, into the message that is being written. */
export function writeStruct(writer: Writer, struct: WireStruct): void {
  for (const [name, value] of Object.entries(struct.fields ?? {})) {
    writer.message(1, () => {
      writer.text(1, name);
      writer.message(2, () => writeValue(writer, value));
    });
  }
}

function writeValue(writer: Writer, value: WireValue): void {
  if (value.stringValue !== undefined) writer.text(3, value.stringValue);
  else if (value.numberValue !== undefined) writer.double(2, value.numberValue);
  else if (value.boolValue !== undefined) writer.flag(4, value.boolValue);
  else if (value.structValue !== undefined) {
    const { structValue } = value;
    writer.message(5, () => writeStruct(writer, structValue));
  } else if (value.listValue !== undefined) {
    const { values } = value.listValue;
    writer.message(6, () => {
      for (const item of values) writer.message(1, () => writeValue(writer, item));
    });
  } else {
    writer.varint(1, 0);
  }
}
