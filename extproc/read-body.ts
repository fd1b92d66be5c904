import type { IncomingMessage } from "node:http";

/** A body that is not taken; the message is for whoever sent it. */
export class BodyError extends Error {
  override readonly name = "BodyError";

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * A request's whole body.
 * @throws BodyError when it is larger, comes slower, or is cut.
 */
export function readBody(request: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  const tooLarge = () => new BodyError(413, `the body may have ${maxBytes} bytes`);
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"]) > maxBytes) return reject(tooLarge());
    const pieces: Buffer[] = [];
    let byteLength = 0;
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      request.on("error", () => {});
      finish();
    };
    const onData = (piece: Buffer) => {
      byteLength += piece.length;
      if (byteLength > maxBytes) settle(() => reject(tooLarge()));
      else pieces.push(piece);
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(pieces)));
    const onClose = () => settle(() => reject(new BodyError(400, "the body is cut")));
    const timer = setTimeout(
      () => settle(() => reject(new BodyError(408, `the body took over ${timeoutMs} ms`))),
      timeoutMs,
    );
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}
