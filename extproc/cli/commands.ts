import { readFileSync } from "node:fs";
import { CliError } from "../cli-error.js";
import type { DryRunResult } from "../control/dry-run-schemas.js";
import type { BackendView, ChainsView, HistoryView, OverrideView, PeersView } from "../control/schemas.js";
import { type Command, userName } from "./arguments.js";
import type { ControlClient } from "./client.js";
import type { Colours } from "./colours.js";
import { plain, plainJson } from "./plain.js";
import {
  showBackend,
  showBackends,
  showChainWithoutTier,
  showDryRun,
  showEntry,
  showOverride,
  showPeers,
} from "./show.js";

const DEFAULT_LIMIT = "20";
const STANDARD_INPUT = 0;

/** Runs what asks once; what it writes, a line's end after it. `watch` is not one of them. */
export async function runOnce(command: Command, client: ControlClient, colours: Colours): Promise<string> {
  const { argument = "", options, isJson } = command;
  const show = <Answer>(answer: Answer, forPeople: (answer: Answer) => string) =>
    isJson ? plainJson(JSON.stringify(answer, undefined, 2)) : write(plain(answer), forPeople);
  const backend = `/v1/backends/${encodeURIComponent(argument)}`;
  const who = options.who ?? userName();
  switch (command.name) {
    case "status":
      return argument === ""
        ? show(await client.get<{ backends: BackendView[] }>("/v1/backends"), ({ backends }) =>
            showBackends(backends, colours),
          )
        : show(await client.get<BackendView>(backend), (answer) => showBackend(answer, colours));
    case "open":
    case "close":
    case "disable": {
      const body = { why: options.why, who, ...(options.for !== undefined && { for: options.for }) };
      const answer = await client.post<OverrideView>(`${backend}/${command.name}`, body);
      const left = command.name === "open" && !isJson ? await chainsWithoutTier(client, argument) : [];
      return show(answer, (override) =>
        [showOverride(override), ...left.map(showChainWithoutTier)].join("\n"),
      );
    }
    case "reset": {
      const answer = await client.post<{ backend: string }>(`${backend}/reset`, { why: options.why, who });
      return show(answer, ({ backend: name }) => `${name} is being reset`);
    }
    case "withdraw": {
      const query = new URLSearchParams({ who, ...(options.why && { why: options.why }) });
      const answer = await client.delete<OverrideView>(`${backend}/override?${query}`);
      return show(answer, ({ backend: name }) => `${name} goes by its policy again`);
    }
    case "history": {
      const query = new URLSearchParams({ limit: options.limit ?? DEFAULT_LIMIT });
      if (options.backend !== undefined) query.set("backend", options.backend);
      return show(await client.get<HistoryView>(`/v1/transitions?${query}`), ({ entries }) =>
        entries.length === 0
          ? "nothing has happened yet"
          : entries.map((entry) => showEntry(entry, colours)).join("\n"),
      );
    }
    case "peers":
      return show(await client.get<PeersView>("/v1/peers"), showPeers);
    case "dry-run": {
      const { backend: only, since } = options;
      const ask = { policy: readPolicy(argument), ...(only && { backend: only }), ...(since && { since }) };
      return show(await client.post<DryRunResult>("/v1/dry-run", ask), (answer) =>
        showDryRun(answer, colours),
      );
    }
    default:
      throw new CliError(2, `${command.name} does not end by itself`);
  }
}

/** Chains that nobody serves any more, now that `backend` is open too. The word holds already, so nothing here may fail it. */
async function chainsWithoutTier(client: ControlClient, backend: string): Promise<string[]> {
  try {
    const [{ chains }, { backends }] = await Promise.all([
      client.get<ChainsView>("/v1/chains"),
      client.get<{ backends: BackendView[] }>("/v1/backends"),
    ]);
    const away = backends.filter(
      ({ state, mode }) => mode === "forcedOpen" || (mode === "enforce" && state === "OPEN"),
    );
    const names = new Set([backend, ...away.map(({ name }) => name)]);
    return chains
      .filter(({ tiers }) => tiers.includes(backend) && tiers.every((tier) => names.has(tier)))
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** What answers may be anything. */
function write<Answer>(answer: Answer, forPeople: (answer: Answer) => string): string {
  try {
    return forPeople(answer);
  } catch (cause) {
    throw new CliError(1, "what answers is no control API: its answer is not the one that was asked for", {
      cause,
    });
  }
}

/** `-` is standard input. The service says what is wrong with it, in the words of Envoy's log. */
function readPolicy(file: string): string {
  try {
    return readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8");
  } catch (cause) {
    throw new CliError(2, `${file} can't be read: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}
