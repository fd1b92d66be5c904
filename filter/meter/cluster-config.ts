// The meter's configuration: what its cluster asks, in the metadata's own words, so that no attempt has to read them. A
// google.protobuf.Struct, as metadata are, which Envoy hands over as the message it is; or JSON, in a StringValue.
import { ProtoReader } from "../bytes/proto-reader";
import { Text } from "../host/text";
import { JsonKind, JsonParser } from "../policy/json";
import { ClusterRules } from "./cluster";

/** Fields of Struct, of an entry of its map, and of Value. */
const STRUCT_FIELDS: u32 = 1;
const ENTRY_KEY: u32 = 1;
const ENTRY_VALUE: u32 = 2;
const VALUE_STRING: u32 = 3;

/** A cluster's rules, with the texts that they point into. */
@final
export class ClusterConfig {
  readonly rules: ClusterRules = new ClusterRules();
  private readonly texts: Text[] = [];

  /** Every fault goes to `errors`. A misspelt key is one: here nothing is passed over. */
  read(ptr: usize, size: i32, errors: string[]): void {
    if (isStruct(ptr, size)) this.readStruct(ptr, size, errors);
    else this.readJson(String.UTF8.decodeUnsafe(ptr, size), errors);
    if (this.rules.aliasLength === 0) errors.push("backend must name the cluster's backend");
  }

  private readStruct(ptr: usize, size: i32, errors: string[]): void {
    const fields = new ProtoReader();
    fields.open(ptr, size);
    while (fields.next()) {
      let key = Text.of("");
      let value: Text | null = null;
      const entry = new ProtoReader();
      entry.open(fields.ptr, fields.length);
      while (entry.next()) {
        if (entry.field === ENTRY_KEY && entry.isBytes) key = copyOf(entry);
        else if (entry.field === ENTRY_VALUE && entry.isBytes) value = textOf(entry);
      }
      this.note(key, value, errors);
    }
  }

  private readJson(text: string, errors: string[]): void {
    const parser = new JsonParser(text);
    const node = parser.parse();
    if (!node) {
      errors.push("it is no JSON: " + parser.error);
      return;
    }
    if (node.kind !== JsonKind.OBJECT) errors.push("it must be an object");
    for (let i = 0; i < node.keys.length; i++) {
      const value = node.items[i];
      this.note(Text.of(node.keys[i]), value.kind === JsonKind.TEXT ? Text.of(value.text) : null, errors);
    }
  }

  private note(key: Text, value: Text | null, errors: string[]): void {
    if (!value) {
      errors.push(key.toString() + " must be a text, as in metadata");
      return;
    }
    this.texts.push(key);
    this.texts.push(value);
    this.rules.note(key.ptr, key.length, value.ptr, value.length);
    if (this.rules.oddLength > 0) errors.push(key.toString() + " is unknown, or has a value that is");
    this.rules.oddLength = 0;
  }
}

/** Whether the bytes are a message that has nothing but what a Struct has. JSON is none, whatever it begins with. */
function isStruct(ptr: usize, size: i32): bool {
  const fields = new ProtoReader();
  fields.open(ptr, size);
  while (fields.next()) {
    if (fields.field !== STRUCT_FIELDS || !fields.isBytes) return false;
  }
  return !fields.isBroken;
}

/** The text in a Value; null when there is something else in it. */
function textOf(entry: ProtoReader): Text | null {
  const value = new ProtoReader();
  value.open(entry.ptr, entry.length);
  return value.next() && value.field === VALUE_STRING && value.isBytes ? copyOf(value) : null;
}

function copyOf(reader: ProtoReader): Text {
  const bytes = new ArrayBuffer(reader.length);
  memory.copy(changetype<usize>(bytes), reader.ptr, reader.length);
  return new Text(bytes);
}
