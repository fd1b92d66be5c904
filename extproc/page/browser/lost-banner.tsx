import { clockTime, duration } from "./format.js";

interface Props {
  readonly silentMs: number;
  readonly problem: string;
  readonly hasData: boolean;
}

/** Says that what is shown is old, and how old. Envoy goes on without the service. */
export function LostBanner({ silentMs, problem, hasData }: Props) {
  const at = clockTime(Date.now() - silentMs);
  return (
    <section class="lost" aria-labelledby="lost-title">
      <h2 id="lost-title" role="alert">
        The service is lost: {problem || "it does not answer"}.
      </h2>
      <p>
        {hasData ? (
          <>
            What you see is as it was at <time>{at}</time>, <strong>{duration(silentMs)} ago</strong>.
          </>
        ) : (
          "Nothing is known yet."
        )}{" "}
        Gateways go on by themselves: Open and Closed work as before, canaries are judged by length after 30
        s, tiers whose body must be rewritten are passed over. Asking again each second.
      </p>
    </section>
  );
}
