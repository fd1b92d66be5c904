import { parentPort, workerData } from "node:worker_threads";
import { PromptCounter } from "./prompt-counter.js";
import type { AskMessage, ThreadMessage } from "./protocol.js";
import { loadVocabulary } from "./vocabulary.js";

// One text must not take every core: the library would spread a batch over all of them.
process.env.TOKENIZERS_PARALLELISM = "false";

const tell = (message: ThreadMessage) => parentPort?.postMessage(message);

const vocabulary = loadVocabulary((workerData as { file: string }).file);
const counter = new PromptCounter(vocabulary);

parentPort?.on("message", async ({ id, ask, untilMs }: AskMessage) => {
  // What has waited too long would only keep others waiting.
  const isLate = Date.now() > untilMs;
  const reply = isLate ? undefined : await counter.count(ask).catch(() => undefined);
  tell(reply === undefined ? { kind: "answer", id } : { kind: "answer", id, reply });
});
tell({ kind: "ready", normalization: vocabulary.normalization });
