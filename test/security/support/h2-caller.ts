import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";

export interface H2Answer {
  /** 0 when none came. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  /** Of interim answers. */
  readonly early: readonly IncomingHttpHeaders[];
  readonly text: string;
}

const LIMIT_MS = 10_000;

/** A POST over HTTP/2 on a connection of its own: Envoy ends one whose caller breaks the protocol. */
export function askH2(
  url: string,
  headers: OutgoingHttpHeaders,
  body = "",
  trailers?: OutgoingHttpHeaders,
): Promise<H2Answer> {
  const session = connect(url);
  session.on("error", () => {});
  return new Promise((resolve) => {
    let [status, text] = [0, ""];
    let came: IncomingHttpHeaders = {};
    let late: IncomingHttpHeaders = {};
    const early: IncomingHttpHeaders[] = [];
    const waitForTrailers = trailers !== undefined;
    const stream = session.request({ ":method": "POST", ...headers }, { waitForTrailers });
    if (trailers) stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    const timer = setTimeout(() => session.destroy(), LIMIT_MS);
    stream.on("headers", (interim) => early.push(interim));
    stream.on("response", (final) => {
      came = final;
      status = Number(final[":status"]);
    });
    stream.on("trailers", (trailing) => {
      late = trailing;
    });
    stream.on("data", (piece) => {
      text += piece;
    });
    stream.on("error", () => {});
    stream.on("close", () => {
      clearTimeout(timer);
      session.destroy();
      resolve({ status, headers: came, trailers: late, early, text });
    });
    stream.end(body);
  });
}
