import structs from "google-protobuf/google/protobuf/struct_pb.js";
import type { WireStruct, WireValue } from "../messages.js";
import type { RequestFacts } from "./facts.js";

/** The namespace that Envoy's `receiving_namespaces` must name, or the metadata is dropped. */
export const METADATA_NAMESPACE = "llm.breaker";

/** The model's name goes into access logs and metrics of others: bounded. Characters. */
const MAX_MODEL_LENGTH = 256;

/**
 * Facts and verdict as the Struct that later filters read. `promptTokens` is absent when unknown, `outputTokens`
 * when unlimited or odd, `model` when the body names none.
 */
export function toMetadata(facts: RequestFacts, canary: boolean): structs.Struct {
  const struct = new structs.Struct();
  const fields = struct.getFieldsMap();
  const setNumber = (name: string, value: number) => fields.set(name, numberValue(value));
  const setFlag = (name: string, value: boolean) => fields.set(name, flagValue(value));
  if (facts.promptTokens !== undefined) setNumber("promptTokens", facts.promptTokens);
  if (facts.output.kind === "limited")
    setNumber("outputTokens", facts.output.answers * facts.output.tokensEach);
  setFlag("exact", facts.exact);
  setFlag("stream", facts.stream);
  setNumber("images", facts.media.images);
  setNumber("audio", facts.media.audio);
  if (facts.model !== undefined) {
    const value = new structs.Value();
    // Half a surrogate pair is no UTF-8; protobuf strings must be.
    value.setStringValue(Buffer.from(facts.model.slice(0, MAX_MODEL_LENGTH)).toString());
    fields.set("model", value);
  }
  setFlag("canary", canary);
  return struct;
}

/** The same Struct under our namespace, in the shape that the gRPC codec takes. */
export function toDynamicMetadata(struct: structs.Struct): WireStruct {
  return { fields: { [METADATA_NAMESPACE]: { structValue: toWire(struct) } } };
}

function numberValue(number: number): structs.Value {
  const value = new structs.Value();
  value.setNumberValue(number);
  return value;
}

function flagValue(flag: boolean): structs.Value {
  const value = new structs.Value();
  value.setBoolValue(flag);
  return value;
}

function toWire(struct: structs.Struct): WireStruct {
  const fields: Record<string, WireValue> = {};
  for (const [name, value] of struct.getFieldsMap().entries()) fields[name] = toWireValue(value);
  return { fields };
}

function toWireValue(value: structs.Value): WireValue {
  switch (value.getKindCase()) {
    case structs.Value.KindCase.NUMBER_VALUE:
      return { numberValue: value.getNumberValue() };
    case structs.Value.KindCase.STRING_VALUE:
      return { stringValue: value.getStringValue() };
    case structs.Value.KindCase.BOOL_VALUE:
      return { boolValue: value.getBoolValue() };
    default:
      throw new Error(`a fact must be a number, a string or a flag, got kind ${value.getKindCase()}`);
  }
}
