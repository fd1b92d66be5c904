import { frame, HEAD_BYTES } from "../grpc/framing.js";
import type {
  Answer,
  AppendAction,
  BodySendMode,
  CommonResponse,
  HeaderMutation,
  HeaderSendMode,
  ImmediateAnswer,
  MessageKind,
  ProcessingMode,
} from "../messages.js";
import { writeStruct } from "./struct.js";
import { Writer } from "./writer.js";

/** Numbers of ProcessingResponse's fields. */
const PARTS: Readonly<Record<MessageKind, number>> = {
  request_headers: 1,
  response_headers: 2,
  request_body: 3,
  response_body: 4,
  request_trailers: 5,
  response_trailers: 6,
};
const IMMEDIATE_RESPONSE = 7;
const DYNAMIC_METADATA = 8;
const MODE_OVERRIDE = 9;

const APPEND_ACTIONS: Readonly<Record<AppendAction, number>> = {
  APPEND_IF_EXISTS_OR_ADD: 0,
  ADD_IF_ABSENT: 1,
  OVERWRITE_IF_EXISTS_OR_ADD: 2,
  OVERWRITE_IF_EXISTS: 3,
};
const HEADER_MODES: Readonly<Record<HeaderSendMode, number>> = { DEFAULT: 0, SEND: 1, SKIP: 2 };
const BODY_MODES: Readonly<Record<BodySendMode, number>> = {
  NONE: 0,
  STREAMED: 1,
  BUFFERED: 2,
  BUFFERED_PARTIAL: 3,
};

const CONTINUES = new Map<MessageKind, Buffer>();

/** The answer to a message of this kind, as a gRPC message in its frame. */
export function writeProcessingResponse(kind: MessageKind, answer: Answer): Buffer {
  if (!isPlain(answer)) return encode(kind, answer);
  const known = CONTINUES.get(kind);
  if (known !== undefined) return known;
  const bytes = encode(kind, answer);
  CONTINUES.set(kind, bytes);
  return bytes;
}

function isPlain({ response, immediate, dynamicMetadata, modeOverride }: Answer): boolean {
  return !(response || immediate || dynamicMetadata || modeOverride);
}

function encode(kind: MessageKind, answer: Answer): Buffer {
  const writer = new Writer(HEAD_BYTES);
  const { response, immediate, dynamicMetadata, modeOverride } = answer;
  if (immediate) {
    writer.message(IMMEDIATE_RESPONSE, () => writeImmediate(writer, immediate), immediate.body.length);
  } else {
    const fill = () => response && writePart(writer, kind, response);
    writer.message(PARTS[kind], fill, bodyBytes(response));
  }
  if (dynamicMetadata) writer.message(DYNAMIC_METADATA, () => writeStruct(writer, dynamicMetadata));
  if (modeOverride && !immediate) writer.message(MODE_OVERRIDE, () => writeMode(writer, modeOverride));
  return frame(writer.finish());
}

/** Envoy takes of an answer to trailers the header mutation only. */
function writePart(writer: Writer, kind: MessageKind, response: CommonResponse): void {
  if (kind !== "request_trailers" && kind !== "response_trailers")
    writer.message(1, () => writeCommon(writer, response), bodyBytes(response));
  else writeMutation(writer, 1, response.header_mutation);
}

function bodyBytes(response: CommonResponse | undefined): number {
  return response?.body_mutation?.body?.length ?? 0;
}

function writeCommon(writer: Writer, response: CommonResponse): void {
  if (response.status === "CONTINUE_AND_REPLACE") writer.varint(1, 1);
  writeMutation(writer, 2, response.header_mutation);
  const mutation = response.body_mutation;
  if (mutation === undefined) return;
  const fill = () => {
    if (mutation.body !== undefined) writer.raw(1, mutation.body);
    else if (mutation.clear_body) writer.flag(2, true);
  };
  writer.message(3, fill, bodyBytes(response));
}

function writeMutation(writer: Writer, field: number, mutation: HeaderMutation | undefined): void {
  if (mutation === undefined) return;
  writer.message(field, () => {
    for (const { header, append_action } of mutation.set_headers ?? [])
      writer.message(1, () => {
        writer.message(1, () => {
          if (header.key) writer.text(1, header.key);
          if (header.value) writer.text(2, header.value);
          if (header.raw_value?.length) writer.raw(3, header.raw_value);
        });
        if (append_action) writer.varint(3, APPEND_ACTIONS[append_action]);
      });
    for (const name of mutation.remove_headers ?? []) writer.text(2, name);
  });
}

function writeImmediate(writer: Writer, { status, headers, body, details }: ImmediateAnswer): void {
  writer.message(1, () => writer.varint(1, status));
  const set_headers = Object.entries(headers).map(([key, value]) => ({
    header: { key, raw_value: Buffer.from(value) },
    append_action: "OVERWRITE_IF_EXISTS_OR_ADD" as const,
  }));
  writeMutation(writer, 2, { set_headers });
  writer.raw(3, body);
  writer.text(5, details);
}

function writeMode(writer: Writer, mode: ProcessingMode): void {
  if (mode.request_header_mode) writer.varint(1, HEADER_MODES[mode.request_header_mode]);
  if (mode.response_header_mode) writer.varint(2, HEADER_MODES[mode.response_header_mode]);
  if (mode.request_body_mode) writer.varint(3, BODY_MODES[mode.request_body_mode]);
  if (mode.response_body_mode) writer.varint(4, BODY_MODES[mode.response_body_mode]);
  if (mode.request_trailer_mode) writer.varint(5, HEADER_MODES[mode.request_trailer_mode]);
  if (mode.response_trailer_mode) writer.varint(6, HEADER_MODES[mode.response_trailer_mode]);
}
