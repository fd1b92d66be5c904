/** One token of protobuf's text format: a quoted string, a bracket, or a word with its colon. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}<>[\],;]|[^\s"{}<>[\],;]+/g;

const ESCAPES: Record<string, number> = { n: 10, r: 13, t: 9, a: 7, b: 8, f: 12, v: 11 };

/**
 * The texts, numbers and flags of one namespace, out of a core.v3.Metadata that Envoy printed as protobuf text:
 * what the attribute `xds.cluster_metadata` brings when it is asked for as a whole. Anything else in it is passed over.
 */
export function readMetadataText(text: string, namespace: string): Map<string, string> {
  const values = new Map<string, string>();
  const path: string[] = [];
  let name = "";
  let key = "";
  let current = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const isValue = token.startsWith('"') || /^-?\d/.test(token) || name === "bool_value";
    if (token === "{" || token === "<") path.push(name);
    else if (token === "}" || token === ">") path.pop();
    else if (isValue) {
      const place = path.join(".");
      if (place === "filter_metadata" && name === "key") current = unquote(token);
      if (place === "filter_metadata.value.fields" && name === "key") key = unquote(token);
      // Deeper values belong to a nested struct.
      if (place === "filter_metadata.value.fields.value" && current === namespace)
        values.set(key, unquote(token));
      name = "";
    } else name = token.replace(/:$/, "");
  }
  return values;
}

/** Bytes that are no ASCII are printed in octal; they are UTF-8 once put together. */
function unquote(token: string): string {
  if (!token.startsWith('"')) return token;
  const bytes: number[] = [];
  for (const [piece] of token.slice(1, -1).matchAll(/\\[0-7]{1,3}|\\x[0-9a-fA-F]{1,2}|\\.|[^\\]/gsu)) {
    if (!piece.startsWith("\\")) bytes.push(...Buffer.from(piece));
    else if (/^\\[0-7]/.test(piece)) bytes.push(Number.parseInt(piece.slice(1), 8));
    else if (/^\\x[0-9a-fA-F]/.test(piece)) bytes.push(Number.parseInt(piece.slice(2), 16));
    else bytes.push(ESCAPES[piece.slice(1)] ?? Buffer.from(piece.slice(1))[0] ?? 0);
  }
  return Buffer.from(bytes).toString("utf8");
}
