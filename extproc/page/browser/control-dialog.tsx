import { useEffect, useRef, useState } from "preact/hooks";
import type { BackendView } from "../../control/schemas.js";
import { type Api, RefusedError } from "./api.js";
import {
  ACTIONS,
  type Action,
  consequencesOf,
  durationProblem,
  type Order,
  saidDone,
  WITHDRAW,
} from "./orders.js";
import type { Chain } from "./standing.js";

const WHO_KEY = "llm-breaker.who";
const DURATIONS = ["15m", "1h", "4h", "1d"];

export interface Wanted {
  readonly name: string;
  readonly action: Action;
}

interface Props {
  readonly wanted: Wanted;
  readonly api: Api;
  readonly backends: readonly BackendView[];
  readonly chains: readonly Chain[];
  readonly onClose: () => void;
  readonly onDone: (said: string) => void;
}

interface Problem {
  readonly field: string | undefined;
  readonly text: string;
}

/** Asks what to do with a backend, for how long and why, tells what it will do to callers, and does it. */
export function ControlDialog({ wanted, api, backends, chains, onClose, onDone }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [action, setAction] = useState(wanted.action);
  const [lasts, setLasts] = useState("15m");
  const [why, setWhy] = useState("");
  const [who, setWho] = useState(localStorage.getItem(WHO_KEY) ?? "");
  const [problem, setProblem] = useState<Problem>();
  const [isSending, setIsSending] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const { name } = wanted;
  const isWithdrawal = wanted.action === "withdraw";
  const text = isWithdrawal ? WITHDRAW : (ACTIONS.find((each) => each.action === action) ?? WITHDRAW);
  const order: Order = { backend: name, action, lasts: lasts.trim(), why: why.trim(), who: who.trim() };
  const send = async (event: Event) => {
    event.preventDefault();
    const wrong = problemOf(order, text.lasts);
    setProblem(wrong);
    if (wrong !== undefined || isSending) return;
    setIsSending(true);
    try {
      await api.order(order);
      localStorage.setItem(WHO_KEY, order.who);
      dialog.current?.close();
      onDone(saidDone(order));
    } catch (cause) {
      setProblem(explain(cause));
      setIsSending(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="control-title" onClose={onClose}>
      <form onSubmit={send} noValidate>
        <h2 id="control-title">
          {isWithdrawal ? "Withdraw the override of " : "Take control of "}
          <bdi>{name}</bdi>
        </h2>
        {!isWithdrawal && <Choice action={action} onChoose={setAction} />}
        <div class="consequences" aria-live="polite">
          <h3>What callers notice</h3>
          <ul>
            {consequencesOf(action, name, backends, chains).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
        {text.lasts && <Lasts lasts={lasts} problem={problem} onChange={setLasts} />}
        <Field
          id="why"
          label="Why"
          hint="For the log and the history."
          value={why}
          problem={problem}
          onChange={setWhy}
        />
        <Field
          id="who"
          label="Who"
          hint={api.hasToken ? "Beside the token's name; may be empty." : "You; may be empty."}
          value={who}
          problem={problem}
          onChange={setWho}
        />
        {problem !== undefined && (
          <p role="alert" class="problem" id="control-problem">
            {problem.text}
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="primary" data-action={action} disabled={isSending}>
            {text.name} {name}
            {text.lasts && ` for ${order.lasts}`}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function Choice({ action, onChoose }: { action: Action; onChoose: (action: Action) => void }) {
  return (
    <fieldset class="choice">
      <legend>What to do</legend>
      {ACTIONS.map((each) => (
        <label key={each.action}>
          <input
            type="radio"
            name="action"
            value={each.action}
            checked={each.action === action}
            onChange={() => onChoose(each.action)}
          />
          <span>
            <strong>{each.name}</strong> <span class="quiet">{each.gist}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface LastsProps {
  readonly lasts: string;
  readonly problem: Problem | undefined;
  readonly onChange: (lasts: string) => void;
}

function Lasts({ lasts, problem, onChange }: LastsProps) {
  return (
    <div class="lasts">
      <Field
        id="for"
        label="For"
        hint="Then the policy holds again, by itself."
        value={lasts}
        problem={problem}
        onChange={onChange}
      />
      <div class="shortcuts">
        {DURATIONS.map((each) => (
          <button type="button" key={each} aria-pressed={each === lasts} onClick={() => onChange(each)}>
            {each}
          </button>
        ))}
      </div>
    </div>
  );
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly problem: Problem | undefined;
  readonly onChange: (value: string) => void;
}

function Field({ id, label, hint, value, problem, onChange }: FieldProps) {
  const isWrong = problem?.field === id;
  return (
    <div class="field">
      <label for={`control-${id}`}>{label}</label>
      <input
        id={`control-${id}`}
        value={value}
        maxLength={id === "why" ? 200 : 64}
        autocomplete="off"
        required={id !== "who"}
        aria-invalid={isWrong}
        aria-describedby={`control-${id}-hint${isWrong ? " control-problem" : ""}`}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <span class="quiet" id={`control-${id}-hint`}>
        {hint}
      </span>
    </div>
  );
}

function problemOf({ why, lasts }: Order, needsDuration: boolean): Problem | undefined {
  const wrong = needsDuration ? durationProblem(lasts) : undefined;
  if (wrong !== undefined) return { field: "for", text: wrong };
  return why === "" ? { field: "why", text: "Say why: whoever comes next will ask." } : undefined;
}

function explain(cause: unknown): Problem {
  if (cause instanceof RefusedError) return { field: cause.field, text: `Refused: ${cause.message}.` };
  return { field: undefined, text: "The service did not answer, so it is not known whether this was done." };
}
