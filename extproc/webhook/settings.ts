import { z } from "zod";
import { count, duration, flag, text } from "../config/fields.js";

const MAX_WEBHOOKS = 16;
const DAY_MS = 86_400_000;

/** What somebody may want to be told of. */
export const EVENTS = ["open", "longOpen", "flapping"] as const;

export type EventName = (typeof EVENTS)[number];

const flapping = z
  .strictObject({
    openings: count(2, 64).default(3).describe("So many openings …"),
    within: duration
      .prefault("15m")
      .refine((ms) => ms >= 10_000 && ms <= DAY_MS, "must be from 10s to 24h")
      .describe("… within this time."),
  })
  .prefault({})
  .describe("When a backend counts as flapping. A probe that fails is no new opening.");

const webhook = z
  .strictObject({
    // What is no URL may still be a secret, so the check that says what was given is not made here.
    url: z
      .string("must be a text")
      .optional()
      .describe("Where messages are posted, https or http. A webhook has either this or `urlFile`."),
    urlFile: text.optional().describe("A file that holds the URL, where that is a secret, as with Slack's."),
    events: z
      .array(z.enum(EVENTS), "must be a list of events")
      .min(1, "must name at least one event")
      .default([...EVENTS])
      .describe(
        "`open`: a backend opened. `longOpen`: it has not been Closed since, for `longOpenAfter`. `flapping`: it opens again and again.",
      ),
    longOpenAfter: duration
      .prefault("10m")
      .refine((ms) => ms >= 1_000 && ms <= DAY_MS, "must be from 1s to 24h")
      .describe("How long a backend is away before `longOpen` is told."),
    flapping,
    sendResolved: flag
      .default(true)
      .describe("Whether a second message tells that it is over: the same `dedupKey`, `status` resolved."),
    template: z
      .enum(["json", "slack"])
      .default("json")
      .describe(
        "`json`: all that is known. `slack`: a line of text, as Slack, Mattermost and others take it.",
      ),
    secretFile: text
      .optional()
      .describe(
        "A file with the secret that messages are signed with (Standard Webhooks): `whsec_` and base64, or any text of 24 bytes or more.",
      ),
    headersFile: text
      .optional()
      .describe("A file of headers to send, one a line as `name: value`, such as an authorization."),
    timeout: duration
      .prefault("5s")
      .refine((ms) => ms >= 100 && ms <= 30_000, "must be from 100ms to 30s")
      .describe("How long one try may take. Tries go on for 15 minutes."),
  })
  .meta({ oneOf: [{ required: ["url"] }, { required: ["urlFile"] }] });

export const webhooksSettings = z
  .array(webhook, "must be a list of webhooks")
  .max(MAX_WEBHOOKS, `must be at most ${MAX_WEBHOOKS} webhooks`)
  .default([])
  .meta({
    example: [
      { url: "https://alerts.example.com/llm-breaker", secretFile: "/etc/llm-breaker/webhook-secret" },
    ],
  })
  .describe(
    "Who is told when a backend opens, stays open or flaps. Files are read again with each reload of the settings.",
  );

export type WebhookSettings = Readonly<z.output<typeof webhook>>;
