// The steps of a run as a tree, with the spans below them and when each ran.
import { useMemo } from "react";
import type { Schema } from "./api";
import { here } from "./location";
import { formatDuration, Plain } from "./parts";

/** From so many steps on, the spans of the chosen step alone are listed. */
const MANY = 60;

/** Spans that the tree lists below one step, and parents between them. */
const MOST_BELOW = 200;
const DEEPEST = 50;

interface TreeParts {
  page: Schema["TracePage"];
  run: Schema["Run"];
  chosen: number;
  choose: (number: number) => void;
  chooseSpan: (id: string) => void;
}

/** Steps with the spans below them, and when each ran. */
export function Tree({ page, run, chosen, choose, chooseSpan }: TreeParts) {
  const below = useMemo(() => spansBelow(page, run), [page, run]);
  const span = here().searchParams.get("span");
  const isListed = (step: Schema["Step"]) => run.steps.length <= MANY || step.number === chosen;
  return (
    <ul className="tree">
      {run.steps.map((step) => {
        const failed = step.error || step.snippets.some((each) => each.recorded?.ended && each.recorded.ended !== "ok");
        const crossed = step.snippets.some((each) => each.scan === "deny" || each.replayed?.attempts.some((a) => !a.allowed));
        return (
          <li>
            <button type="button" aria-current={step.number === chosen ? "true" : undefined} onClick={() => choose(step.number)}>
              <span className="name">
                step {step.number}
                {step.kind === "action" ? "" : ` ${step.kind.replace("_", " ")}`}
              </span>
              {failed ? <span className="verdict fail">✗ failed</span> : null}
              {crossed ? <span className="verdict fail">✗ boundary</span> : null}
              <span className="dim">{formatDuration(step.end_ns - step.start_ns)}</span>
            </button>
            <When run={run} start={step.start_ns} end={step.end_ns} />
            {isListed(step) && below.has(step.span_id) ? (
              <ul className="tree">
                {below.get(step.span_id)!.slice(0, MOST_BELOW).map((each, index) => (
                  <li key={index}>
                    <button type="button" aria-current={each.span_id === span ? "true" : undefined} onClick={() => chooseSpan(each.span_id)}>
                      <span className="dim">{each.kind}</span>
                      <span className="name"><Plain text={each.name} /></span>
                      {each.error ? <span className="verdict fail">✗ failed</span> : null}
                      <span className="dim">{formatDuration(each.end_ns - each.start_ns)}</span>
                    </button>
                    <When run={run} start={each.start_ns} end={each.end_ns} />
                  </li>
                ))}
                {below.get(step.span_id)!.length > MOST_BELOW ? <li className="dim">{below.get(step.span_id)!.length - MOST_BELOW} more among the spans below the steps</li> : null}
              </ul>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

/** When something ran, within its run. */
function When({ run, start, end }: { run: Schema["Run"]; start: number; end: number }) {
  const whole = Math.max(1, run.end_ns - run.start_ns);
  const left = Math.max(0, Math.min(99, ((start - run.start_ns) / whole) * 100));
  return (
    <span className="width">
      <i style={{ left: `${left}%`, width: `${Math.max(0, Math.min(100 - left, ((end - start) / whole) * 100))}%` }} />
    </span>
  );
}

/** Return the spans below each step, by the span of the step. */
function spansBelow(page: Schema["TracePage"], run: Schema["Run"]): Map<string, Schema["SpanRow"][]> {
  const steps = new Set(run.steps.map((step) => step.span_id));
  const parents = new Map(page.spans.map((each) => [each.span_id, each.parent_id]));
  const found = new Map<string, Schema["SpanRow"][]>();
  for (const span of page.spans) {
    let at = parents.get(span.span_id);
    // A trace that is not whole may have spans that are each other's parents.
    for (let depth = 0; at && !steps.has(at) && depth < DEEPEST; depth++) at = parents.get(at);
    if (!at || !steps.has(at) || steps.has(span.span_id)) continue;
    if (!found.has(at)) found.set(at, []);
    found.get(at)!.push(span);
  }
  return found;
}
