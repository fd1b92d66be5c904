const KEY = "llm-breaker.theme";
const isDark = matchMedia("(prefers-color-scheme: dark)");

export type Theme = "light" | "dark";

/** What the operator chose here before; without that, the style sheet follows the system. */
export function applyStoredTheme(): void {
  const stored = localStorage.getItem(KEY);
  if (stored === "light" || stored === "dark") document.documentElement.dataset.theme = stored;
}

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return isDark.matches ? "dark" : "light";
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(KEY, theme);
}

export function onSystemTheme(listener: () => void): () => void {
  isDark.addEventListener("change", listener);
  return () => isDark.removeEventListener("change", listener);
}
