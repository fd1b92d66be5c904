import { z } from "zod";

/** The parts of a JSON Schema (2020-12) that ours are made of. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
}

/**
 * What a file may hold, in the words that editors complete and check by. Durations are texts there. A setting's
 * `.meta({ example })` is as it stands in the file: zod's own `examples` are what comes out of a transformation.
 */
export function toJsonSchema(schema: z.ZodType, title: string): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    override({ jsonSchema }) {
      // zod's way to say that a number is a whole one that JavaScript can hold.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const { example } = jsonSchema;
      if (example === undefined) return;
      delete jsonSchema.example;
      jsonSchema.examples = [example as string];
    },
  });
  return { $schema, title, ...rest } as JsonSchema;
}
