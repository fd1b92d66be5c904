import { serveJobs } from "../threads/serve-jobs.js";
import { readFacts } from "./facts.js";
import { boundPrompt } from "./large-prompt.js";
import type { BodyFacts } from "./prompt.js";
import type { ReadJob } from "./reader.js";

function read({ path, bytes, maxTextBytes, isDecoded }: ReadJob): BodyFacts | undefined {
  const facts = readFacts(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), isDecoded);
  if (facts?.prompt) facts.prompt = boundPrompt(facts.prompt, maxTextBytes);
  return facts;
}

serveJobs(read);
