const ADDRESS = "is the service running, and is listen.admin this address?";
const NOT_SIGNED = "your --cert-file must be signed by control.tls.clientCaFile";
const NO_ISSUER = "name who signed the service's certificate by --ca-file";

/** By what Node or OpenSSL calls it; the first that fits. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|packet length too long/i,
    "no HTTPS is spoken there: is control.tls set, or is --url http://…?",
  ],
  [
    /certificate required|handshake failure/i,
    "it wants a client's certificate: give --cert-file and --key-file",
  ],
  [/alert (unknown ca|bad certificate|certificate unknown|decrypt error)/i, NOT_SIGNED],
  [/alert certificate expired/i, "your --cert-file is out of date"],
  [/self.signed certificate|unable to (verify|get)/i, NO_ISSUER],
  [/altname|altnames/i, "ask by a name or an address that its certificate has"],
  [/certificate has expired/i, "the service's certificate is out of date: renew control.tls.certFile"],
];

/** What went wrong with a connection, in one line that ends with what to do. */
export function explain(url: URL, cause: NodeJS.ErrnoException): string {
  const { message, code } = cause;
  const text = message || code || "no connection";
  const known = REMEDIES.find(([words]) => words.test(text))?.[1];
  return `${firstLine(text)}; ${known ?? remedyWithoutText(url, code)}`;
}

/** A server that speaks TLS hangs up on HTTP, and one of Node on clients that it does not trust. */
function remedyWithoutText({ protocol }: URL, code: string | undefined): string {
  if (code !== "ECONNRESET") return ADDRESS;
  return protocol === "http:" ? `with control.tls it is --url https://…; else: ${ADDRESS}` : NOT_SIGNED;
}

/** OpenSSL's `number:error:code:library:function:reason:file:line:` is told by its reason. */
function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/.exec(line)?.[1] ?? line;
}
