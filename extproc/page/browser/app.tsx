import { useEffect, useState } from "preact/hooks";
import type { BackendView } from "../../control/schemas.js";
import type { Api } from "./api.js";
import { Changes } from "./changes.js";
import { ControlDialog, type Wanted } from "./control-dialog.js";
import { Fleet } from "./fleet.js";
import { LostBanner } from "./lost-banner.js";
import { SignIn } from "./sign-in.js";
import { situationOf } from "./situation.js";
import { SituationPanel } from "./situation-panel.js";
import { Stale } from "./stale.js";
import { LOST_AFTER_MS, type Store } from "./store.js";
import { TopBar } from "./top-bar.js";
import { useNews } from "./use-news.js";
import { useTabTitle } from "./use-tab-title.js";

/** How long the outcome of an order is in sight. */
const SHOWN_MS = 8000;

/** The whole page. It is drawn anew with each answer, and each second while there is none. */
export function App({ api, store }: { api: Api; store: Store }) {
  const [snapshot, setSnapshot] = useState(store.snapshot);
  const [wanted, setWanted] = useState<Wanted>();
  const [done, setDone] = useState("");
  const [news, setNews] = useState("");
  const [theme, setTheme] = useState(0);
  const nowMs = useEachSecond();
  useEffect(() => store.subscribe(setSnapshot), [store]);

  const { entries, trends, wantsToken, problem } = snapshot;
  const chains = snapshot.chains ?? [];
  // Without chains they would stand elsewhere, for a moment.
  const backends = snapshot.chains === undefined ? undefined : snapshot.backends;
  const silentMs = Math.max(0, nowMs - snapshot.heardMs);
  const isLost = silentMs > LOST_AFTER_MS && !wantsToken;
  const situation = situationOf(backends ?? [], chains);
  useTabTitle(situation, isLost || backends === undefined);
  useNews(entries, setNews);
  useEffect(() => {
    if (done === "") return undefined;
    const timer = setTimeout(() => setDone(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [done]);

  if (wantsToken) return <SignIn api={api} store={store} refusals={snapshot.refusals} />;
  const control = (backend: BackendView, action?: Wanted["action"]) =>
    setWanted({ name: backend.name, action: action ?? "open" });
  return (
    <Stale.Provider value={isLost}>
      <TopBar
        snapshot={snapshot}
        isLost={isLost}
        api={api}
        store={store}
        onTheme={() => setTheme(theme + 1)}
      />
      {isLost && <LostBanner silentMs={silentMs} problem={problem} hasData={backends !== undefined} />}
      {backends === undefined && !isLost && <p class="starting">Asking how the backends stand …</p>}
      {backends !== undefined && (
        <main class={isLost ? "stale" : ""}>
          <SituationPanel situation={situation} snapshot={snapshot} />
          <div class="columns">
            <Fleet
              backends={backends}
              chains={chains}
              entries={entries}
              trends={trends}
              theme={theme}
              onControl={control}
            />
            <Changes entries={entries} />
          </div>
        </main>
      )}
      {wanted !== undefined && (
        <ControlDialog
          wanted={wanted}
          api={api}
          backends={backends ?? []}
          chains={chains}
          onClose={() => setWanted(undefined)}
          onDone={(text) => {
            setWanted(undefined);
            setDone(text);
            store.wake();
          }}
        />
      )}
      <p class="done" role="status">
        {done}
      </p>
      <p class="hidden" role="status">
        {news}
      </p>
    </Stale.Provider>
  );
}

/** performance.now(), so that an age grows while nothing comes. */
function useEachSecond(): number {
  const [nowMs, setNowMs] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
