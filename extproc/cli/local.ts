/** Runs a command that asks no service; `words` are those behind its name. What it resolves to is the exit code. */
export type LocalCommand = (words: readonly string[]) => Promise<number>;

/** Loaded only when asked for: most of what they need, the other commands never do. */
const COMMANDS: Readonly<Record<string, () => Promise<LocalCommand>>> = {
  render: async () => (await import("../render/command.js")).render,
  check: async () => (await import("../check/command.js")).check,
  demo: async () => (await import("./demo.js")).demo,
  "--version": async () => (await import("./version.js")).version,
};

export function localCommand(name: string | undefined): LocalCommand | undefined {
  if (name === undefined || !Object.hasOwn(COMMANDS, name)) return undefined;
  const load = COMMANDS[name];
  return load && (async (words) => (await load())(words));
}
