import { useState } from "preact/hooks";
import type { Api } from "./api.js";
import type { Store } from "./store.js";

interface Props {
  readonly api: Api;
  readonly store: Store;
  readonly refusals: number;
}

/** Where control.tokenFile is set. The token stays in this tab. */
export function SignIn({ api, store, refusals }: Props) {
  const [token, setToken] = useState("");
  const signIn = (event: Event) => {
    event.preventDefault();
    api.signIn(tokenOf(token));
    store.wake();
  };
  return (
    <main class="sign-in">
      <h1>llm-breaker</h1>
      <form onSubmit={signIn}>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={token}
          aria-describedby="token-help"
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p id="token-help" class="quiet">
          One of the service's <code>control.tokenFile</code>, without the name before it. It is kept in this
          tab until you close it.
        </p>
        {refusals > 0 && (
          <p role="alert" class="problem">
            The service does not know this token.
          </p>
        )}
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  );
}

/** Whoever takes the whole line of the file means what stands behind the name. A header holds no other letters. */
function tokenOf(text: string): string {
  return text
    .trim()
    .replace(/^[^:]*:/, "")
    .replace(/[^\x21-\x7e]/g, "?");
}
