/** A page of vLLM with a hundred LoRA adapters is some 300 kB. */
const MAX_PAGE_BYTES = 2_097_152;
const TIME_LIMIT_MS = 1_000;

/**
 * A page's text.
 * @throws when it does not come within a second, is larger than 2 MiB, or its status is not 200.
 */
export async function scrape(address: string): Promise<string> {
  const response = await fetch(address, {
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
    // A page that moved is a set-up fault; what it moved to was not configured.
    redirect: "error",
    headers: { accept: "text/plain" },
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`answered status ${response.status}`);
  }
  const pieces: Uint8Array[] = [];
  let byteLength = 0;
  for await (const piece of response.body ?? []) {
    byteLength += piece.length;
    if (byteLength > MAX_PAGE_BYTES) throw new Error(`is larger than ${MAX_PAGE_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
