import { type IncomingMessage, request as openRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface UploadAnswer {
  /** 0 when no answer came. */
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** A caller that sends its body in two halves, `pauseMs` apart. Never rejects. */
export async function uploadSlowly(url: string, body: string, pauseMs: number): Promise<UploadAnswer> {
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  const call = openRequest(url, { method: "POST", agent: false, headers });
  const answer = new Promise<UploadAnswer>((resolve) => {
    call.on("error", () => resolve({ status: 0, headers: {}, text: "" }));
    call.on("response", (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (part: string) => {
        text += part;
      });
      incoming.on("error", () => {});
      incoming.on("close", () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }),
      );
    });
  });
  const half = body.length / 2;
  call.write(body.slice(0, half));
  await Promise.race([sleep(pauseMs), answer]);
  call.end(body.slice(half));
  return await answer;
}
