/** One server-sent event; named ones as Responses and Messages send them. */
export function event(data: unknown, name?: string): string {
  const text = `data: ${JSON.stringify(data)}\n\n`;
  return name === undefined ? text : `event: ${name}\n${text}`;
}

export const DONE = "data: [DONE]\n\n";
