import type { Context, Hono } from "hono";

/** One file that the admin port serves to whoever can reach it: it holds nothing of this service's. */
export interface StaticFile {
  /** "/" for the page itself. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  /** In quotes, as the header has it. */
  readonly etag: string;
  /** The name changes with the content: a browser need not ask again. */
  readonly isForever: boolean;
}

/** No inline code, nothing from elsewhere, in nobody's frame; pictures may stand in the style sheet itself. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SAFETY_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Serves the files; without any, `/` says how they are made. */
// biome-ignore lint/suspicious/noExplicitAny: an app of any environment will do
export function addPage(app: Hono<any>, files: readonly StaticFile[]): void {
  for (const file of files) app.get(file.path, (ask) => answer(ask, file));
  if (files.length > 0) return;
  app.get("/", (ask) =>
    ask.json({ error: { message: "the live page was not built: npm run build; the API is at /v1" } }, 404),
  );
}

function answer(ask: Context, { contentType, body, gzipped, etag, isForever }: StaticFile): Response {
  const headers = {
    ...SAFETY_HEADERS,
    "cache-control": isForever ? "public, max-age=31536000, immutable" : "no-cache",
    etag,
    vary: "accept-encoding",
  };
  if (ask.req.header("if-none-match") === etag) return ask.body(null, 304, headers);
  const isPacked = takesGzip(ask.req.header("accept-encoding") ?? "");
  return ask.body(isPacked ? gzipped : body, 200, {
    ...headers,
    "content-type": contentType,
    ...(isPacked && { "content-encoding": "gzip" }),
  });
}

/** Named, and not by a weight of 0. */
function takesGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(",").some((coding) => {
    const [name, ...weights] = coding.split(";").map((part) => part.trim().toLowerCase());
    return name === "gzip" && !weights.some((weight) => /^q=0(?:\.0*)?$/.test(weight));
  });
}
