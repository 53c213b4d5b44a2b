// The steps of a run: code with findings on its lines, what was recorded beside what was replayed, tool calls.
import { diffArrays, diffChars } from "diff";
import { Link2 } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import type { Schema } from "./api";
import { Images, type ImagesParts } from "./images";
import { addressWith } from "./location";
import { formatBytes, formatDuration, Link, Plain } from "./parts";

type Claim = Schema["Claim"];
type Snippet = Schema["Snippet"];

/** A value in an output, with the character it begins at, where that is known. */
interface Cell {
  value: string;
  start: number | null;
}

const LONGEST_DIFF = 4000;

export interface StepParts {
  step: Schema["Step"];
  claim: Claim | null;
  chosen: boolean;
  images?: ImagesParts;
}

export function Step({ step, claim, chosen, images }: StepParts) {
  const lit = claim && rests(step, claim) ? cellOf(claim) : null;
  return (
    <section className="step" id={`step-${step.number}`} data-chosen={chosen || undefined} aria-label={`Step ${step.number}`}>
      <header>
        <h2>step {step.number}{step.kind === "action" ? "" : ` ${step.kind.replace("_", " ")}`}</h2>
        <span className="dim">{formatDuration(step.end_ns - step.start_ns)}</span>
        <Link className="anchor" href={addressWith({ step: String(step.number) })} aria-label={`link to step ${step.number}`}><Link2 size={13} /></Link>
      </header>
      {step.thought ? (
        <details open={step.thought.length < 600}>
          <summary className="dim">thought</summary>
          <div className="thought"><Plain text={step.thought} /></div>
        </details>
      ) : null}
      {step.snippets.map((snippet) => <Code key={snippet.id} snippet={snippet} lit={lit} />)}
      <Calls calls={step.calls} lit={lit} />
      {images ? <Images {...images} /> : null}
      {step.error && !step.snippets.length ? <pre className="calls verdict fail"><Plain text={step.error} /></pre> : null}
    </section>
  );
}

export function Calls({ calls, lit }: { calls: Schema["Call"][]; lit: Cell | null }) {
  if (!calls.length) return null;
  return (
    <div className="calls">
      <h3>tool calls</h3>
      {calls.map((call, index) => (
        <pre key={index}>
          <Plain text={`${call.tool}(${call.arguments})`} /> →{" "}
          {call.error !== null ? <span className="verdict fail">✗ <Plain text={call.error} /></span> : (
            <Lit text={call.result ?? "nothing on record"} lit={lit} />
          )}
        </pre>
      ))}
    </div>
  );
}

interface SourceParts {
  snippet: Snippet;
  /** The lines of the snippet beside it, where there is one: those that it lacks are marked. */
  beside?: string[];
  /** How they are marked. */
  side?: "removed" | "added";
}

/** Code, with what scanners found below it. */
export function Source({ snippet, beside, side }: SourceParts) {
  const other = beside ? changedLines(beside, snippet.lines) : new Set<number>();
  const worst = new Map<number, string>();
  for (const each of snippet.findings) {
    if (each.verdict !== "allow" && worst.get(each.line) !== "deny") worst.set(each.line, each.verdict);
  }
  return (
    <>
      <div className="source code" aria-label={`${snippet.language} code`} role="group">
        <div className="dim finding-head" style={{ padding: "0 12px 4px" }}>
          {snippet.language}
          {snippet.executed ? "" : ", proposed, did not run"} · scan: {snippet.scan}
          {snippet.cut ? " · cut" : ""}
        </div>
        <ol>
          {snippet.lines.map((line, index) => (
            // Made of tags by the server's highlighter, which escapes the source.
            <li className={[worst.get(index + 1), other.has(index) ? side : ""].join(" ")} dangerouslySetInnerHTML={{ __html: line }} />
          ))}
        </ol>
      </div>
      {snippet.findings.map((finding, index) => (
        <div key={index} className={`finding ${finding.verdict}`}>
          line {finding.line}: <code>{finding.rule}</code> <Plain text={finding.message} />
          {finding.remedy ? <div className="dim"><Plain text={finding.remedy} /></div> : null}
        </div>
      ))}
    </>
  );
}

/** Return the lines, by position, that the other text does not have. */
function changedLines(other: string[], lines: string[]): Set<number> {
  const found = new Set<number>();
  let at = 0;
  for (const part of diffArrays(other, lines)) {
    if (part.removed) continue;
    if (part.added) part.value.forEach((_, offset) => found.add(at + offset));
    at += part.value.length;
  }
  return found;
}

function Code({ snippet, lit }: { snippet: Snippet; lit: Cell | null }) {
  return (
    <>
      <Source snippet={snippet} />
      {snippet.executed ? <Beside snippet={snippet} lit={lit} /> : null}
      <Listed
        title="Files left"
        rows={Object.entries(snippet.replayed?.files ?? {}).map(([path, size]) => <><code><Plain text={path} /></code> <span className="dim">{formatBytes(size)}</span></>)}
      />
      <Listed
        title="Attempts at the boundary"
        rows={(snippet.replayed?.attempts ?? []).map(({ allowed, kind, target, count }) => (
          <>
            <span className={`verdict ${allowed ? "open" : "fail"}`}>{allowed ? "? allowed" : "✗ refused"}</span> {kind} <code><Plain text={target} /></code>
            {count > 1 ? ` ×${count}` : ""}
          </>
        ))}
      />
    </>
  );
}

/** What a replay did beside its output; nothing where it did nothing of the kind. */
function Listed({ title, rows }: { title: string; rows: ReactNode[] }) {
  return rows.length ? <div className="attempts"><h3>{title}</h3>{rows.map((row, index) => <div key={index}>{row}</div>)}</div> : null;
}

function Beside({ snippet, lit }: { snippet: Snippet; lit: Cell | null }) {
  const { recorded, replayed } = snippet;
  const before = textOf(recorded);
  const after = replayed ? textOf(replayed) : "";
  const same = replayed?.agrees === true;
  const words = replayed && [replayed.ended.replaceAll("_", " "), formatDuration(replayed.wall_s * 1e9), replayed.peak_memory_bytes ? formatBytes(replayed.peak_memory_bytes) : ""];
  return (
    <div className="beside">
      <div role="group" aria-label="recorded">
        <h3>recorded {recorded?.ended ? `· ${recorded.ended.replaceAll("_", " ")}` : ""}</h3>
        <pre>{before ? <Lit text={before} lit={lit} /> : <span className="dim">nothing was printed</span>}</pre>
      </div>
      <div role="group" aria-label="replayed">
        <h3>
          {["replayed", ...(words ?? [])].filter(Boolean).join(" · ")}
          {same ? <span className="verdict pass"> ✓ same</span> : null}
          {replayed?.agrees === false ? <span className="verdict fail"> ✗ differs</span> : null}
          {replayed?.flaky ? <span className="verdict open"> ? flaky</span> : null}
        </h3>
        {replayed ? (
          <pre>{same ? <Lit text={after || before} lit={lit} /> : <Difference before={before} after={after} />}</pre>
        ) : <p className="dim"><Plain text={snippet.not_replayed ?? "not replayed"} /></p>}
        {replayed?.difference && !same ? <p className="dim"><Plain text={replayed.difference} /></p> : null}
      </div>
    </div>
  );
}

export function textOf(side: Schema["Recorded"] | Schema["Replayed"] | null): string {
  if (!side) return "";
  return [side.printed?.replace(/\n$/, ""), side.value === "None" ? null : side.value, side.error].filter(Boolean).join("\n");
}

export function Difference({ before, after }: { before: string; after: string }) {
  if (!before || before.length + after.length > LONGEST_DIFF) return <Plain text={after} />;
  return diffChars(before, after).map((part, index) => (
    <span key={index} className={part.added ? "added" : part.removed ? "removed" : undefined}><Plain text={part.value} /></span>
  ));
}

/** Return where the value of a claim is in a text; -1 where it is not. */
function placeOf(text: string, { value, start }: Cell): number {
  // Characters are counted as Python counts them: by code point.
  const exact = start === null ? -1 : [...text].slice(0, start).join("").length;
  if (exact >= 0 && text.startsWith(value, exact)) return exact;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const isPart = /\w$|\d[.,]$/.test(text.slice(Math.max(0, at - 2), at)) || /^\w|^[.,]\d/.test(text.slice(at + value.length));
    if (!isPart) return at;
  }
  return text.indexOf(value);
}

/** Text with the place of a value lit up. */
export function Lit({ text, lit }: { text: string; lit: Cell | null }) {
  const mark = useRef<HTMLElement>(null);
  const at = lit ? placeOf(text, lit) : -1;
  useEffect(() => {
    if (at >= 0) mark.current?.scrollIntoView({ block: "center" });
  }, [at, lit?.value]);
  if (!lit || at < 0) return <Plain text={text} />;
  return (
    <>
      <Plain text={text.slice(0, at)} />
      <mark className="lit" ref={mark}><Plain text={lit.value} /></mark>
      <Plain text={text.slice(at + lit.value.length)} />
    </>
  );
}

/** Whether the output that a claim was held against is one of the step's. */
function rests(step: Schema["Step"], claim: Claim): boolean {
  return [step, ...step.snippets, ...step.calls].some((each) => each.span_id !== null && each.span_id === claim.span_id);
}

/** Return the value that a claim was bound to: `key: value` in a document is printed in other forms. */
function cellOf(claim: Claim): Cell | null {
  const value = claim.found?.split(": ").at(-1);
  return value ? { value, start: claim.cell } : null;
}
