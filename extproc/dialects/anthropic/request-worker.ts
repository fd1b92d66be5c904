import { serveJobs } from "../../threads/serve-jobs.js";
import { toMessages } from "./request.js";

/** Another thread's side: a body that can't be translated has no answer. */
serveJobs((body: Uint8Array) => toMessages(Buffer.from(body.buffer, body.byteOffset, body.byteLength)));
