// The steps of a run as a tree, with the spans below them and when each ran.
import { useMemo, type ReactNode } from "react";
import type { Schema } from "./api";
import { getParameter } from "./location";
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
  const below = useMemo(() => listSpansBelow(page, run), [page, run]);
  const whole = Math.max(1, run.end_ns - run.start_ns);
  const line = (isChosen: boolean, show: () => void, { start_ns: start, end_ns: end }: { start_ns: number; end_ns: number }, content: ReactNode) => {
    const left = Math.max(0, Math.min(99, ((start - run.start_ns) / whole) * 100));
    const width = Math.max(0, Math.min(100 - left, ((end - start) / whole) * 100));
    return (
      <>
        <button type="button" aria-current={isChosen ? "true" : undefined} onClick={show}>
          {content}
          <span className="dim">{formatDuration(end - start)}</span>
        </button>
        <span className="width"><i style={{ left: `${left}%`, width: `${width}%` }} /></span>
      </>
    );
  };
  const failed = <span className="verdict fail">✗ failed</span>;
  return (
    <ul className="tree">
      {run.steps.map((step) => {
        const hasFailed = step.error || step.snippets.some((each) => each.recorded?.ended && each.recorded.ended !== "ok");
        const hasCrossed = step.snippets.some((each) => each.scan === "deny" || each.replayed?.attempts.some((a) => !a.allowed));
        const isListed = run.steps.length <= MANY || step.number === chosen;
        const spans = (isListed && below.get(step.span_id)) || [];
        return (
          <li key={step.number}>
            {line(step.number === chosen, () => choose(step.number), step, (
              <>
                <span className="name">step {step.number}{step.kind === "action" ? "" : ` ${step.kind.replace("_", " ")}`}</span>
                {hasFailed ? failed : null}
                {hasCrossed ? <span className="verdict fail">✗ boundary</span> : null}
              </>
            ))}
            {spans.length ? (
              <ul className="tree">
                {spans.slice(0, MOST_BELOW).map((each) => (
                  <li key={each.span_id}>
                    {line(each.span_id === getParameter("span"), () => chooseSpan(each.span_id), each, (
                      <>
                        <span className="dim">{each.kind}</span>
                        <span className="name"><Plain text={each.name} /></span>
                        {each.error ? failed : null}
                      </>
                    ))}
                  </li>
                ))}
                {spans.length > MOST_BELOW ? <li className="dim">{spans.length - MOST_BELOW} more among the spans below the steps</li> : null}
              </ul>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

/** Return the spans below each step, by the span of the step. */
function listSpansBelow(page: Schema["TracePage"], run: Schema["Run"]): Map<string, Schema["SpanRow"][]> {
  const found = new Map<string, Schema["SpanRow"][]>(run.steps.map((step) => [step.span_id, []]));
  const parents = new Map(page.spans.map((each) => [each.span_id, each.parent_id]));
  for (const span of page.spans) {
    let at = parents.get(span.span_id);
    // A trace that is not whole may have spans that are each other's parents.
    for (let depth = 0; at && !found.has(at) && depth < DEEPEST; depth++) at = parents.get(at);
    if (at && !found.has(span.span_id)) found.get(at)?.push(span);
  }
  return found;
}
