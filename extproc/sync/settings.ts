import { z } from "zod";
import { text } from "../config/fields.js";

export const syncSettings = z
  .strictObject({
    tokenFile: text.describe(
      "Holds what gateways must send as `authorization: Bearer …`. Read with the settings.",
    ),
  })
  .optional()
  .meta({ example: { tokenFile: "/etc/llm-breaker/sync-token" } })
  .describe(
    "Which gateways may tell how they stand, vote, and pass on operators' words. Absent: whoever reaches `listen.http`.",
  );

export type SyncSettings = Readonly<z.output<typeof syncSettings>>;
