// The one way to show a state: its mark, its word and its colour, never colour alone. Only `pass` has a tick and is
// green. The API says which state a run, a case or a rate is in; nothing is folded here.
import { LAYERS, STATES, type Layer, type Schema, type State } from "./api";
import { Link, percent } from "./parts";

type Rate = Schema["Rate"];

export const MARKS: Record<State, string> = { pass: "✓", fail: "✗", open: "?", skipped: "–", errored: "!" };

const RESULT_WORDS: Partial<Record<State, string>> = { pass: "passed", fail: "failed" };

/** The short names of the layers, where five marks stand side by side. */
export const SHORT_LAYERS: Record<Layer, string> = {
  correctness: "corr",
  boundary: "bound",
  execution: "exec",
  groundedness: "grnd",
  trajectory: "traj",
};

export function isState(word: string): word is State {
  return word in MARKS;
}

interface MarkParts {
  state: State;
  /** In place of the word of the state. */
  text?: string;
  /** In front of the mark. */
  label?: string;
  title?: string;
  href?: string | null;
}

export function StateMark({ state, text, label, title, href }: MarkParts) {
  const parts = { className: `verdict ${state}`, title, children: `${label ? `${label} ` : ""}${MARKS[state]} ${text ?? state}`.trimEnd() };
  return href ? <Link {...parts} href={href} /> : <span {...parts} />;
}

/** The outcome of a score: its state, and its value where it was judged; a value alone of what has no verdict. */
export function Outcome({ outcome, label }: { outcome: Schema["Outcome"] | undefined; label?: string }) {
  if (!outcome) return <StateMark state="skipped" text="" />;
  const { state } = outcome;
  const value = outcome.value === null ? "" : outcome.value.toFixed(2);
  if (state === null) {
    return <span className="dim" title={outcome.explanation}>{label} {value || outcome.verdict}</span>;
  }
  const isJudged = state === "pass" || state === "fail";
  return <StateMark state={state} label={label} text={isJudged && value ? `${state} ${value}` : state} title={outcome.explanation} />;
}

/** Whether a result holds: an assertion, a case of a suite, a whole report. */
export function ResultMark({ state, verdict }: { state: State; verdict?: string }) {
  const word = RESULT_WORDS[state] ?? state;
  const isOther = verdict !== undefined && verdict !== word && verdict !== state && state === "open";
  return <StateMark state={state} text={isOther ? `${word} (${verdict})` : word} />;
}

/** How many are in each state; those with none are left out. */
export function Counts({ counts }: { counts: Record<string, number> }) {
  const shown = STATES.filter((state) => counts[state]);
  if (!shown.length) return <span className="dim">none</span>;
  return shown.map((state) => (
    <span key={state} className="part"><StateMark state={state} text={`${counts[state]} ${RESULT_WORDS[state] ?? state}`} /></span>
  ));
}

/** Five small marks with the short names of their layers, in the order of the layers. */
export function LayerMarks({ states }: { states: Record<string, string> }) {
  const stateOf = (layer: string): State => {
    const given = states[layer] ?? "skipped";
    return isState(given) ? given : "open";
  };
  const words = LAYERS.map((layer) => `${layer} ${layer in states ? stateOf(layer) : "none"}`).join(", ");
  return (
    <span className="marks" role="img" aria-label={words} title={words}>
      {LAYERS.map((layer) => (
        <span key={layer} className={`verdict ${stateOf(layer)}`} aria-hidden="true">
          {MARKS[stateOf(layer)]}
          <small>{SHORT_LAYERS[layer]}</small>
        </span>
      ))}
    </span>
  );
}

/** Return what a bar of verdicts is made of, the gravest first. What errored is left out where nothing did. */
export function listShares({ failed, errored, open, passed }: Pick<Rate, "failed" | "errored" | "open" | "passed">): [State, number][] {
  return [["fail", failed], ...(errored ? [["errored", errored] as [State, number]] : []), ["open", open], ["pass", passed]];
}

/** Return the parts of a bar in words: `4 failed, 7 open, 301 passed`. */
export function describeShares(parts: [State, number][]): string {
  return parts.map(([state, count]) => `${count} ${RESULT_WORDS[state] ?? state}`).join(", ");
}

/** The shares that failed, are open and passed, as one bar; open is hatched, so that it is told apart without colour. */
export function RateBar({ rate }: { rate: Rate }) {
  const parts = listShares(rate).filter(([, count]) => count);
  if (!parts.length) return <div className="shares" />;
  const words = describeShares(listShares(rate));
  return (
    <div className="shares" role="img" aria-label={words} title={words}>
      {parts.map(([state, count]) => <i key={state} className={state} style={{ flexGrow: count, minWidth: "2px" }} />)}
    </div>
  );
}

/** The rate of a layer as a number, in the state of what was counted. */
export function RateMark({ rate, href }: { rate: Rate; href?: string }) {
  return <StateMark state={rate.state} text={rate.judged ? percent(rate.rate) : ""} title={rate.words} href={href} />;
}

const CHANGES: Record<Schema["Pair"]["change"], string> = { worse: "▲", better: "▼", unclear: "=" };

/** How the fails changed, and what is open; better is green only where all was judged. */
export function Change({ pair, short }: { pair: Schema["Pair"]; short?: boolean }) {
  if (!pair.before.judged || !pair.after.judged) return <span className="dim">{short ? "" : "no rate to compare with"}</span>;
  const isJudged = !pair.after.open && !pair.after.errored;
  const colour = { worse: "fail", better: isJudged ? "pass" : "open", unclear: "skipped" }[pair.change];
  return (
    <>
      <span className={`verdict ${colour}`}>
        {CHANGES[pair.change]} {short && pair.change === "unclear" ? <span className="skip">unclear</span> : pair.change}
      </span>
      {pair.open_change === "unclear" ? null : (
        <div><StateMark state="open" text={pair.open_change === "worse" ? "more open" : "less open"} /></div>
      )}
    </>
  );
}
