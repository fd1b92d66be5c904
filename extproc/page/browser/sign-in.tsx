import { useState } from "preact/hooks";
import type { Api } from "./api.js";
import type { Store } from "./store.js";

/** Where control.tokenFile is set. The token stays in this tab. */
export function SignIn({ api, store }: { api: Api; store: Store }) {
  const [token, setToken] = useState("");
  const [wasTried, setWasTried] = useState(api.hasToken);
  const signIn = (event: Event) => {
    event.preventDefault();
    api.signIn(token.trim());
    setWasTried(true);
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
        {wasTried && (
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
