export type Paint = (text: string) => string;

export interface Colours {
  readonly red: Paint;
  readonly yellow: Paint;
  readonly green: Paint;
  readonly dim: Paint;
}

const plain: Paint = (text) => text;
const paint =
  (code: number): Paint =>
  (text) =>
    `\u001b[${code}m${text}\u001b[0m`;

/** Only for a terminal, and not where NO_COLOR is set (https://no-color.org). */
export function coloursFor(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv): Colours {
  const isColoured = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== "dumb";
  if (!isColoured) return { red: plain, yellow: plain, green: plain, dim: plain };
  return { red: paint(31), yellow: paint(33), green: paint(32), dim: paint(2) };
}
