/** Ways in which a text may be written elsewhere. */
function disguisesOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Inside of base64 a text has three forms, by where it begins; its first and last characters may be others' bits.
  const inBase64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "")
      .slice(offset + 1, -1),
  );
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), bytes.toString("utf16le"), ...inBase64];
}

/** Everything that was written or served, by where. */
export class Haystack {
  readonly #places = new Map<string, string>();

  add(place: string, text: string): void {
    this.#places.set(place, `${this.#places.get(place) ?? ""}\n${text}`);
  }

  textOf(place: string): string {
    return this.#places.get(place) ?? "";
  }

  get places(): string[] {
    return [...this.#places.keys()];
  }

  /** `place: name of the secret, and what stands about it`, for each that is found. */
  find(secrets: Readonly<Record<string, string>>): string[] {
    const found: string[] = [];
    for (const [name, secret] of Object.entries(secrets)) {
      const forms = disguisesOf(secret);
      for (const [place, text] of this.#places) {
        const at = forms.map((form) => text.indexOf(form)).find((index) => index >= 0);
        if (at !== undefined)
          found.push(`${place}: ${name}, in ${JSON.stringify(text.slice(Math.max(0, at - 80), at + 60))}`);
      }
    }
    return found;
  }
}
