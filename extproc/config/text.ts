import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync, statSync } from "node:fs";

/** A configuration is a few kB; what is much larger is another file. */
const MAX_BYTES = 262_144;

const REASONS: Record<string, string> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "it may not be read by this user",
  EPERM: "it may not be read by this user",
  ELOOP: "its symbolic links go in circles",
};

/** A file's text without its byte order mark. @throws Error whose message says why not. */
export function readText(file: string, maxBytes = MAX_BYTES): string {
  const bytes = readBounded(file, maxBytes);
  if (!isUtf8(bytes)) throw new Error("it is no UTF-8 text");
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

function readBounded(file: string, maxBytes: number): Buffer {
  try {
    // Before opening: a pipe that nobody writes to would hold us up.
    const stat = statSync(file);
    if (stat.isDirectory()) throw new Error("it is a folder");
    if (!stat.isFile()) throw new Error("it is no regular file");
    const descriptor = openSync(file, "r");
    try {
      return readAll(descriptor, maxBytes);
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw code === undefined
      ? cause
      : new Error(REASONS[code] ?? `reading it failed with ${code}`, { cause });
  }
}

function readAll(descriptor: number, maxBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(descriptor, bytes, length, bytes.length - length, null);
  }
  if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  return bytes.subarray(0, length);
}
