import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { CliError } from "../cli-error.js";
import type { EntryView } from "../control/schemas.js";
import type { Command } from "./arguments.js";
import type { ControlClient } from "./client.js";
import type { Colours } from "./colours.js";
import { plain, plainJson } from "./plain.js";
import { showEntry } from "./show.js";

const PAUSE_MS = 1000;
/** The service sends a comment each 15 s. */
const SILENCE_MS = 45_000;
const MAX_LINE = 65_536;

/**
 * Writes each entry as it comes, until the process ends. A connection that is lost is opened again behind the last entry that came.
 * @throws CliError when the first one can't be had
 */
export async function watch(
  { options, isJson }: Command,
  client: ControlClient,
  colours: Colours,
  write: (line: string) => void,
): Promise<never> {
  let lastId: string | undefined;
  const onEntry = (id: string | undefined, data: string) => {
    lastId = id ?? lastId;
    const entry = JSON.parse(data) as EntryView;
    if (options.backend !== undefined && entry.backend !== options.backend) return;
    write(isJson ? plainJson(data) : showEntry(plain(entry), colours));
  };
  const open = () => client.open("/v1/events", lastId === undefined ? {} : { "last-event-id": lastId });
  let stream: IncomingMessage | undefined = await open();
  // Nothing may happen for hours; and standard output is for entries.
  process.stderr.write("watching; Ctrl-C ends it\n");
  for (;;) {
    if (stream !== undefined) await readEvents(stream, onEntry);
    await pause(PAUSE_MS);
    stream = await open().catch((cause: unknown) => {
      if (cause instanceof CliError) return undefined;
      throw cause;
    });
  }
}

async function readEvents(
  stream: IncomingMessage,
  onEntry: (id: string | undefined, data: string) => void,
): Promise<void> {
  stream.setTimeout(SILENCE_MS, () => stream.destroy());
  stream.setEncoding("utf8");
  let rest = "";
  let id: string | undefined;
  try {
    for await (const piece of stream as AsyncIterable<string>) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_LINE) return;
      for (const line of lines) {
        if (line.startsWith("id: ")) id = line.slice(4);
        else if (line.startsWith("data: ")) onEntry(id, line.slice(6));
      }
    }
  } catch {
    // It broke off: the next one goes on from there.
  }
}
