import { z } from "zod";

export const callerSettings = z
  .strictObject({
    /** Request headers that name a caller; the first that is present counts. Only such as your authentication checks or sets. */
    headers: z
      .array(z.string().regex(/^[a-z0-9-]{1,64}$/, "must be a header's name in lower case"))
      .min(1, "must name at least one header")
      .max(8, "must name at most 8 headers")
      .default(["authorization", "x-api-key", "api-key"]),
    /** Requests without any: all share one caller's limits, or have none. */
    anonymous: z.enum(["shared", "unlimited"]).default("shared"),
  })
  .prefault({});

export type CallerSettings = Readonly<z.output<typeof callerSettings>>;
