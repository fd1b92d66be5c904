import { z } from "zod";
import { count, duration, text, url } from "../config/fields.js";

/** What is found beyond is not asked: a backend of more engines than this is told by those. */
export const MAX_ENDPOINTS = 64;

/** It is named in a header, in a list. */
const backendName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be a backend's alias of letters, digits, dots, dashes");

/** Addresses are logged, so nothing secret may stand in them. */
const page = url("http", "https").refine(
  (given) => !URL.canParse(given) || new URL(given).username + new URL(given).password === "",
  "must not hold a user or a password; use bearerTokenFile",
);

const backend = z
  .strictObject({
    metrics: page
      .optional()
      .describe("The engine's Prometheus page. A backend has either this or `endpoints`."),
    resolve: z
      .enum(["none", "a", "srv"])
      .default("none")
      .describe(
        "What the host of `metrics` stands for. `none`: one engine. `a`: every A and AAAA record is an engine. `srv`: every " +
          "SRV record is one, with its own port. Asked again every 5 s; while DNS fails, the last answer holds.",
      ),
    endpoints: z
      .array(page, "must be a list of pages")
      .min(1, "must name at least one page")
      .max(MAX_ENDPOINTS, `must name at most ${MAX_ENDPOINTS} pages`)
      .optional()
      .describe("The pages of all engines of the backend, where no name stands for them."),
    longQueue: count(1)
      .default(8)
      .describe(
        "From so many waiting requests at one engine on the backend's degrade rules hold, on every attempt.",
      ),
    bearerTokenFile: text
      .optional()
      .describe("A file whose text is sent as bearer token, for pages that want one. Read again every 5 s."),
  })
  .superRefine(({ metrics, endpoints, resolve }, { addIssue }) => {
    const refuse = (field: string, message: string) => addIssue({ code: "custom", path: [field], message });
    if (metrics === undefined && endpoints === undefined) refuse("metrics", "or endpoints must be given");
    if (metrics !== undefined && endpoints !== undefined) {
      refuse("endpoints", "must not stand beside metrics; name all pages in endpoints");
    }
    if (endpoints !== undefined && resolve !== "none") refuse("resolve", "must be none beside endpoints");
  })
  .meta({ oneOf: [{ required: ["metrics"] }, { required: ["endpoints"] }] });

export const signalsSettings = z
  .strictObject({
    period: duration
      .prefault("1s")
      .refine((ms) => ms >= 100 && ms <= 1_000, "must be from 100ms to 1s")
      .describe(
        "How often each page is asked, and how long it may take. What is older than 5 s counts as unknown.",
      ),
    backends: z
      .record(backendName, backend)
      .default({})
      .meta({ example: { gpu: { metrics: "http://127.0.0.1:8000/metrics", longQueue: 8 } } })
      .describe(
        "Where the engines of backends tell their KV-cache use and their queues, by the alias that the policy uses.",
      ),
  })
  .prefault({})
  .describe("What engines tell of themselves.");

export type SignalsSettings = Readonly<z.output<typeof signalsSettings>>;
export type BackendSettings = Readonly<z.output<typeof backend>>;
