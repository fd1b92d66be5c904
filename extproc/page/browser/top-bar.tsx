import type { Api } from "./api.js";
import { counted } from "./format.js";
import { ThemeIcon } from "./icons.js";
import type { Snapshot, Store } from "./store.js";
import { chooseTheme, currentTheme } from "./theme.js";

interface Props {
  readonly snapshot: Snapshot;
  readonly isLost: boolean;
  readonly api: Api;
  readonly store: Store;
  readonly onTheme: () => void;
}

export function TopBar({ snapshot, isLost, api, store, onTheme }: Props) {
  const gateways = new Set(
    (snapshot.backends ?? []).flatMap((backend) => backend.gateways.map(({ process }) => process)),
  ).size;
  const next = currentTheme() === "dark" ? "light" : "dark";
  return (
    <header class="top">
      <p class="brand">llm-breaker</p>
      <p class="link" data-lost={isLost}>
        <span class="dot" aria-hidden="true" />
        {isLost ? "not connected" : snapshot.backends === undefined ? "connecting" : "live"}
        {!isLost && gateways > 0 && <span class="quiet"> · {counted(gateways, "gateway")}</span>}
      </p>
      <div class="tools">
        {api.hasToken && (
          <button type="button" class="plain" onClick={() => store.signOut()}>
            Sign out
          </button>
        )}
        <button
          type="button"
          class="plain"
          onClick={() => {
            chooseTheme(next);
            onTheme();
          }}
        >
          <ThemeIcon />
          <span class="text">{next === "dark" ? "Dark" : "Light"}</span>
        </button>
      </div>
    </header>
  );
}
