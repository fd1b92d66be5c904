import { z } from "zod";
import { text } from "../config/fields.js";

const file = text;

export const controlSettings = z
  .strictObject({
    tokenFile: file
      .optional()
      .describe(
        "A file of bearer tokens, one a line as `name:token`, of at least 16 characters; the name is who did it. Read anew when it changes.",
      ),
    tls: z
      .strictObject({
        certFile: file.describe("The server's certificate, PEM."),
        keyFile: file.describe("Its key, PEM."),
        clientCaFile: file
          .optional()
          .describe(
            "Who signed the clients' certificates, PEM: one without such a certificate is refused. Its common name is who did it.",
          ),
      })
      .optional()
      .describe("HTTPS on `listen.admin`. Files are read anew when they change. Absent: HTTP."),
  })
  .optional()
  .meta({
    example: {
      tokenFile: "/etc/llm-breaker/control-tokens",
      tls: {
        certFile: "/etc/llm-breaker/tls.crt",
        keyFile: "/etc/llm-breaker/tls.key",
        clientCaFile: "/etc/llm-breaker/clients.crt",
      },
    },
  })
  .describe(
    "Who may use the control API on `listen.admin`. On loopback everybody on this machine may; elsewhere `tokenFile` or `tls.clientCaFile` is required.",
  );

export type ControlSettings = Readonly<NonNullable<z.output<typeof controlSettings>>>;
