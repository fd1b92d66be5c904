import { z } from "zod";
import { text, url } from "../config/fields.js";

export const tracesSettings = z
  .strictObject({
    endpoint: url("http", "https")
      .refine(
        (given) => !URL.canParse(given) || new URL(given).username + new URL(given).password === "",
        "must not hold a user or a password; use headersFile",
      )
      .describe("Where a collector takes OTLP over HTTP. Without a path: `/v1/traces`."),
    serviceName: text
      .default("llm-breaker-extproc")
      .describe("What the service is called in traces: `service.name`."),
    headersFile: text
      .optional()
      .describe(
        "A file of headers for the collector, one a line as `name: value`, such as its key. Read with the settings.",
      ),
  })
  .optional()
  .meta({
    example: { endpoint: "http://127.0.0.1:4318", headersFile: "/etc/llm-breaker/collector-headers" },
  })
  .describe(
    "Spans of what the service does with a request, below Envoy's. Which requests are traced is Envoy's to decide. Absent: none.",
  );

export type TracesSettings = Readonly<NonNullable<z.output<typeof tracesSettings>>>;
