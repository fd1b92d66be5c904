const GAP = "  ";

/** Columns as wide as what stands in them; the last one is not filled up. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => plainLength(row[column] ?? ""))),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column === head.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - plainLength(cell)),
        )
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** Colours take no room. */
function plainLength(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; length++) {
    const end = text.startsWith("\u001b[", at) ? text.indexOf("m", at) : -1;
    if (end < 0) {
      at++;
      continue;
    }
    at = end + 1;
    length--;
  }
  return length;
}

/** "12 s", "3 m 20 s", "1 h 5 m", "2 d 4 h". */
export function showDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return ms > 0 && ms < 950 ? `${Math.round(ms)} ms` : `${seconds} s`;
  const units: [number, string][] = [
    [86_400, "d"],
    [3600, "h"],
    [60, "m"],
    [1, "s"],
  ];
  const first = units.findIndex(([size]) => seconds >= size);
  return units
    .slice(first, first + 2)
    .map(([size, unit], index) => {
      const whole = index === 0 ? seconds : seconds % (units[first]?.[0] ?? 1);
      return [Math.floor(whole / size), unit] as const;
    })
    .filter(([count, _], index) => index === 0 || count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
