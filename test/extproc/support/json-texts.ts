import fc from "fast-check";

/** JSON as any serializer may spell it: blanks anywhere, escapes that need not be, numbers beyond a double. */

export const blanks = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r"), maxLength: 2 });

const numbers = fc.constantFrom(
  "0",
  "-0",
  "1.0",
  "1e400",
  "9007199254740993",
  "12345678901234567890",
  "0.1E+2",
  "-1.50e-3",
);

/** Any character may be spelled by its code. */
function spell(text: string, escapes: readonly boolean[]): string {
  const literal = [
    ...JSON.stringify(text)
      .slice(1, -1)
      .matchAll(/\\u[0-9a-f]{4}|\\.|./gsu),
  ].map(([unit], index) => {
    if (unit.startsWith("\\") || unit.length > 1 || !escapes[index % escapes.length]) return unit;
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  return `"${literal.join("")}"`;
}

const escapePattern = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });

export const keyLiteral = (key: string) => escapePattern.map((escapes) => spell(key, escapes));

const texts = fc.oneof(
  fc.tuple(fc.string({ unit: "binary" }), escapePattern).map(([text, escapes]) => spell(text, escapes)),
  fc.constantFrom('"\\/"', '"\\ud800"', '"\\\\"', '"}],{"'),
);

export const { value: jsonValue } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("true", "false", "null"),
    numbers,
    texts,
    list("[", "]", tie("value")),
    list(
      "{",
      "}",
      fc
        .tuple(texts, blanks, blanks, tie("value"))
        .map(([key, left, right, value]) => `${key}${left}:${right}${value}`),
    ),
  ),
}));

function list(open: string, close: string, entry: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const padded = fc.tuple(blanks, entry, blanks).map((parts) => parts.join(""));
  return fc
    .tuple(blanks, fc.array(padded, { maxLength: 3 }))
    .map(([blank, entries]) =>
      entries.length === 0 ? `${open}${blank}${close}` : `${open}${entries.join(",")}${close}`,
    );
}
