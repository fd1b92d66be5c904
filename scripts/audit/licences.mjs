/**
 * Whether an SPDX expression can be met with licences of `allowed`: one of what OR joins, all of what AND joins.
 * @param {string} expression
 * @param {readonly string[]} allowed
 * @returns {boolean}
 */
export function isAllowed(expression, allowed) {
  const tokens = expression.match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;
  const one = () => {
    if (tokens[at] !== "(") return allowed.includes(tokens[at++] ?? "");
    at++;
    const inner = either();
    return tokens[at++] === ")" && inner;
  };
  const all = () => {
    let isGood = one();
    while (tokens[at] === "AND") {
      at++;
      isGood = one() && isGood;
    }
    return isGood;
  };
  const either = () => {
    let isGood = all();
    while (tokens[at] === "OR") {
      at++;
      isGood = all() || isGood;
    }
    return isGood;
  };
  const isGood = either();
  return isGood && at === tokens.length;
}
