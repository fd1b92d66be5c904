import { z } from "zod";
import { headerName } from "../config/fields.js";

export const callerSettings = z
  .strictObject({
    headers: z
      .array(headerName, "must be a list of header names")
      .min(1, "must name at least one header")
      .max(8, "must name at most 8 headers")
      .default(["authorization", "x-api-key", "api-key"])
      .describe(
        "Request headers that name a caller; the first that is there counts. Only such as your authentication checks or sets.",
      ),
    anonymous: z
      .enum(["shared", "unlimited"])
      .default("shared")
      .describe("Requests without any of them: all are one caller, or have no limits."),
  })
  .prefault({})
  .describe("Who a caller is, for limits and remembered answers.");

export type CallerSettings = Readonly<z.output<typeof callerSettings>>;
