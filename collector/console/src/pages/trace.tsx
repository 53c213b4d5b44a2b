// What happened, and is the verdict right? Steps, what was recorded beside what was replayed, and the answer with its
// claims: choosing one lights up the output it was held against.
import { Button, Table } from "@mantine/core";
import { ArrowLeftRight, Link2, Pencil } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { LAYERS, type Layer, type Schema } from "../api";
import { Cli, formatDuration, Link, Plain, Promote, request, Shown, Time, useAnswer, useTitle } from "../parts";
import { pair } from "../query";
import { addressOf, addressWith, go, here, isTyping } from "../location";
import { report } from "../answers";
import type { PageParts } from "../root";
import { Outcome, StateMark } from "../state";
import { Images } from "../images";
import { Step, type StepParts } from "../steps";
import { Tree } from "../tree";
import { Judge } from "./review";

const EditRun = lazy(() => import("./edit"));

type Run = Schema["Run"];
type Claim = Schema["Claim"];
type Page = Schema["TracePage"];
type Score = Schema["Score"];

/** Steps of a run in one answer, as the API has them. */
const STEPS_OF_PAGE = 1000;

/** From so many on, of steps and of scores, only a part is drawn at once. */
const MANY = 60;

/** What the outputs say of a claim: what they leave open is not certain. */
const CLAIM_WORDS: Record<Claim["verdict"], string> = { contradicted: "contradicted", uncertain: "open", grounded: "grounded" };

export function StoredTrace({ id }: PageParts) {
  return <Trace path={`traces/${id}`} />;
}

export function TrialTrace({ id }: PageParts) {
  return <Trace path={`trials/${id}`} />;
}

/** A trace of the store, or of a trial of an experiment: `path` is where the API has it. */
function Trace({ path }: { path: string }) {
  const step = Number(here().searchParams.get("step")) || 1;
  const first = step - ((step - 1) % STEPS_OF_PAGE);
  const page = useAnswer<Page>(path, first > 1 ? { first_step: String(first) } : {});
  return <Shown loaded={page} title="Trace">{(found) => <Whole page={found} path={path} reload={page.reload} />}</Shown>;
}

function Whole({ page, path, reload }: { page: Page; path: string; reload: (() => void) | undefined }) {
  const wanted = here().searchParams.get("run");
  const gravest = page.runs.find((run) => run.state === page.state);
  const run = page.runs.find((each) => each.span_id === wanted) ?? gravest ?? page.runs[0];
  if (!run) {
    return (
      <div className="empty">
        <h1>This trace has no agent run</h1>
        <p>It has {page.spans.length} spans, none of which an agent, a model or a tool is recorded on.</p>
        <Spans page={page} path={path} />
      </div>
    );
  }
  return (
    <>
      <Head page={page} run={run} />
      <Columns key={run.span_id} page={page} path={path} run={run} reload={reload} />
      {isStored(path) ? (
        <Cli line={`spanproof show ${page.trace_id.slice(0, 12)} --run ${run.span_id}`} />
      ) : report ? null : <Cli line={request(path)} />}
    </>
  );
}

function Head({ page, run }: { page: Page; run: Run }) {
  const facts = [
    `run ${run.span_id.slice(0, 8)}`,
    ...["prompt_version", "model", "release", "executor"].map((name) => run.cohort[name]).filter(Boolean),
    `${run.step_count.toLocaleString("en")} ${run.step_count === 1 ? "step" : "steps"}`,
    formatDuration(run.end_ns - run.start_ns),
    run.tokens ? `${run.tokens.toLocaleString("en")} tokens` : "",
  ].filter(Boolean);
  useTitle(run.sentence, run.state);
  return (
    <div className="head-of-run">
      <div className="dim">
        {report ? null : <Link href={addressOf("/traces")}>Traces</Link>} / <Plain text={run.agent} /> · <Plain text={facts.join(" · ")} /> · <Time ns={run.start_ns} />
      </div>
      <h1><StateMark state={run.state} text={run.state === "pass" ? "" : undefined} /> <Plain text={run.sentence} /></h1>
      {page.runs.length > 1 ? (
        <nav className="badges" aria-label="Runs of this trace">
          {page.runs.map((each, index) => (
            <Link key={index}
              className={`badge ${each.state}`}
              href={addressWith({ run: each.span_id, step: null, claim: null, layer: null, span: null })}
              aria-current={each === run ? "true" : undefined}
            >
              <StateMark state={each.state} /> <Plain text={each.agent} />
            </Link>
          ))}
        </nav>
      ) : null}
      {page.defects.length ? <div className="dim">The trace is incomplete: {page.defects.join(", ")}</div> : null}
    </div>
  );
}

/** Whether a trace can be labelled and promoted: trials are kept in the folder of their experiment. */
function isStored(path: string): boolean {
  return path.startsWith("traces/");
}

function Columns({ page, path, run, reload }: { page: Page; path: string; run: Run; reload: (() => void) | undefined }) {
  const failing = run.claims.find((claim) => claim.verdict === "contradicted") ?? null;
  const given = here().searchParams;
  // The address holds what is chosen: step, claim (its first character in the answer) and layer.
  const claim = run.claims.find((each) => String(each.start) === given.get("claim")) ?? null;
  const reasonLayer = run.state === "skipped" ? null : run.reason_layer;
  const layer = given.has("layer") ? LAYERS.find((each) => each === given.get("layer")) ?? null : reasonLayer;
  const chooseLayer = (next: Layer | null) => go(addressWith({ layer: next ?? "all" }), true);
  const [panel, setPanel] = useState(failing || run.state === "open" || run.state === "errored" ? "answer" : "steps");
  const stepOfUrl = () => Number(here().searchParams.get("step")) || 0;
  const chosen = stepOfUrl();
  const goToStep = (number: number) => {
    go(addressWith({ step: String(number) }), true);
    setPanel("steps");
    document.getElementById(`step-${number}`)?.scrollIntoView({ block: "start" });
  };
  const showSpan = (id: string) => {
    go(addressWith({ span: id }), true);
    setPanel("steps");
  };
  const show = (next: Claim | null) => {
    go(addressWith({ claim: next && String(next.start) }), true);
    const step = next?.span_id && run.step_of_span[next.span_id];
    if (step) goToStep(step);
  };
  useEffect(() => {
    if (chosen) document.getElementById(`step-${chosen}`)?.scrollIntoView({ block: "start" });
  }, []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const layers = run.layers.map((each) => each.layer);
      const at = layer ? layers.indexOf(layer) : -1;
      if (event.key === "j") goToStep(Math.min(run.step_count, stepOfUrl() + 1));
      else if (event.key === "k") goToStep(Math.max(1, stepOfUrl() - 1));
      else if (event.key === "]") chooseLayer(layers[Math.min(layers.length - 1, at + 1)] ?? null);
      else if (event.key === "[") chooseLayer(layers[Math.max(0, at - 1)] ?? null);
      else if (event.key === "o") document.getElementById(`step-${stepOfUrl() || 1}`)?.querySelectorAll("details").forEach((each) => (each.open = !each.open));
      else if (event.key === "Escape") show(null);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const imagesOf = (step: number | null) => ({
    images: page.images.filter((each) => each.step === step && [run.span_id, null].includes(each.run_span_id)),
    path,
    project: isStored(path) ? page.project : undefined,
  });
  const canEdit = !report && isStored(path);
  const isEditing = canEdit && given.has("edit");
  const tab = (name: string, text: string) => (
    <button type="button" role="tab" aria-selected={panel === name} onClick={() => setPanel(name)}>{text}</button>
  );
  const shown = (name: string) => ({ "data-panel": name, "data-shown": panel === name || undefined });
  return (
    <>
      <div className="badges" role="group" aria-label="Layers">
        {run.layers.filter((score) => score.outcome.state !== "skipped").map((score, index) => (
          <button key={index}
            type="button"
            className={`badge ${score.outcome.state}`}
            aria-pressed={layer === score.layer}
            onClick={() => {
              chooseLayer(layer === score.layer ? null : score.layer);
              setPanel("answer");
            }}
          >
            <Outcome outcome={score.outcome} label={score.layer} />
          </button>
        ))}
        {groupByCause(run.layers).map((layers, index) => (
          <button key={index}
            type="button"
            className="badge"
            title={describeCause(layers[0]!.outcome)}
            onClick={() => {
              chooseLayer(null);
              setPanel("answer");
            }}
          >
            <StateMark state="skipped" text={`skipped ${nameLayers(layers)}`} />
          </button>
        ))}
      </div>
      <div className="toolbar">
        <span className="dim"><Plain text={run.replay} /></span>
        <span className="end">
          {canEdit ? <Button leftSection={<Pencil size={14} />} aria-pressed={isEditing} onClick={() => go(addressWith({ edit: isEditing ? null : "1" }))}>edit and run</Button> : null}
          {isStored(path) ? <Promote runs={[{ trace_id: page.trace_id, run_span_id: run.span_id, project: page.project }]} /> : null}
          {report || !isStored(path) ? null : <Button component={Link} leftSection={<ArrowLeftRight size={14} />} href={`/compare/runs?${new URLSearchParams({ after: `traces/${page.trace_id}/${run.span_id}` })}`}>compare</Button>}
        </span>
      </div>
      {isEditing ? <Suspense><EditRun trace={page.trace_id} project={page.project} recorded={run} /></Suspense> : null}
      <div className="tabs" role="tablist" aria-label="Parts">
        {tab("answer", "Answer and evidence")}
        {tab("steps", "Steps")}
        {tab("tree", "Tree")}
      </div>
      <div className="trace">
        <nav className="side" aria-label="Steps" {...shown("tree")}>
          <StepsShown run={run} />
          <Tree page={page} run={run} chosen={chosen} choose={goToStep} chooseSpan={showSpan} />
        </nav>
        <div {...shown("steps")}>
          <StepsShown run={run} />
          {run.steps.map((step) => {
            const parts = { step, claim, chosen: step.number === chosen, images: imagesOf(step.number) };
            return run.steps.length > MANY ? <StepNear key={step.number} {...parts} /> : <Step key={step.number} {...parts} />;
          })}
          <StepsShown run={run} />
          <Images {...imagesOf(null)} />
          <Spans page={page} path={path} />
        </div>
        <div className="side" {...shown("answer")} data-shown={panel === "answer" || undefined}>
          <h2>Task</h2>
          <p className="answer-task">{run.task === null ? <span className="dim">not on the trace</span> : <Plain text={run.task} />}</p>
          <h2>Answer</h2>
          <Answer run={run} claim={claim} choose={show} />
          {claim ? <Why claim={claim} run={run} /> : null}
          <Evidence run={run} project={page.project} trace={isStored(path) ? page.trace_id : null} layer={layer} goToStep={goToStep} reload={reload} />
          {page.feedback.map((said, index) => (
            <p key={index}>
              User feedback: {said.kind.replace("_", " ")}
              {said.comment ? <>: <Plain text={said.comment} /></> : null}
            </p>
          ))}
        </div>
      </div>
    </>
  );
}

/** Which steps of a very long run are on the page, with links to those before and after. */
function StepsShown({ run }: { run: Run }) {
  if (run.steps.length === run.step_count) return null;
  const [first, last] = [run.steps[0]?.number ?? 1, run.steps.at(-1)?.number ?? 0];
  const link = (step: number, text: string) => <Link href={addressWith({ step: String(step) })}>{text}</Link>;
  return (
    <p className="dim">
      Steps {first.toLocaleString("en")} to {last.toLocaleString("en")} of {run.step_count.toLocaleString("en")} with their scores.{" "}
      {first > 1 ? link(first - STEPS_OF_PAGE, "earlier steps") : null} {last < run.step_count ? link(last + 1, "later steps") : null}
    </p>
  );
}

/** A step of a long run: it is drawn once it is near the screen, until then its place is kept. */
function StepNear(parts: StepParts) {
  const place = useRef<HTMLElement>(null);
  const [near, setNear] = useState(false);
  const drawn = near || parts.chosen;
  useEffect(() => {
    if (drawn) return;
    const watch = new IntersectionObserver((seen) => seen.some((each) => each.isIntersecting) && setNear(true), { rootMargin: "1000px" });
    watch.observe(place.current!);
    return () => watch.disconnect();
  }, [drawn]);
  if (drawn) return <Step {...parts} />;
  return <section className="step place" ref={place} id={`step-${parts.step.number}`} aria-label={`Step ${parts.step.number}`} />;
}

function Answer({ run, claim, choose }: { run: Run; claim: Claim | null; choose: (claim: Claim | null) => void }) {
  if (run.answer === null) return <p className="dim">none on the trace</p>;
  // Characters are counted as Python counts them: by code point.
  const letters = [...run.answer];
  const parts = [];
  let at = 0;
  for (const each of [...run.claims].sort((a, b) => a.start - b.start)) {
    if (each.start < at || each.end > letters.length) continue;
    parts.push(<Plain text={letters.slice(at, each.start).join("")} />);
    parts.push(
      <button
        type="button"
        className={`claim ${each.verdict}`}
        aria-pressed={claim === each}
        title={CLAIM_WORDS[each.verdict]}
        onClick={() => choose(claim === each ? null : each)}
      >
        <Plain text={letters.slice(each.start, each.end).join("")} />
        <span className="skip"> ({CLAIM_WORDS[each.verdict]})</span>
      </button>,
    );
    at = each.end;
  }
  parts.push(<Plain text={letters.slice(at).join("")} />);
  return (
    <>
      <div className="answer">{parts}</div>
      {run.claims.length ? (
        <p className="dim">
          {describeClaims(run.claims)}. Choose an underlined claim to see the output it was held against.
        </p>
      ) : null}
    </>
  );
}

/** Return how many claims were checked, and what of them is open. */
function describeClaims(claims: Claim[]): string {
  const counted = (["grounded", "contradicted", "uncertain"] as const)
    .map((verdict) => [claims.filter((each) => each.verdict === verdict).length, CLAIM_WORDS[verdict]] as const)
    .filter(([count]) => count);
  return `${claims.length} ${claims.length === 1 ? "claim" : "claims"}: ${counted.map(([count, word]) => `${count} ${word}`).join(", ")}`;
}

function Why({ claim, run }: { claim: Claim; run: Run }) {
  const step = claim.span_id && run.step_of_span[claim.span_id];
  return (
    <div className="why" role="status">
      <strong>{CLAIM_WORDS[claim.verdict]}</strong>
      {step ? ` by step ${step}` : ""}
      <p><Plain text={claim.why} /></p>
      {claim.found ? <pre><Plain text={claim.found} /></pre> : null}
    </div>
  );
}

interface EvidenceParts {
  run: Run;
  project: string;
  trace: string | null;
  layer: string | null;
  goToStep: (number: number) => void;
  reload: (() => void) | undefined;
}

/** Each layer with what speaks for its state; skipped layers are folded, by cause. */
function Evidence({ run, project, trace, layer, goToStep, reload }: EvidenceParts) {
  const chosen = run.layers.filter((each) => !layer || each.layer === layer);
  const one = (score: Score) => <LayerEvidence key={score.layer} score={score} run={run} project={project} trace={trace} goToStep={goToStep} reload={reload} />;
  return (
    <div className="evidence">
      {chosen.filter((each) => layer || each.outcome.state !== "skipped").map(one)}
      {layer
        ? null
        : groupByCause(run.layers).map((layers, index) => (
            <details key={index}>
              <summary>
                <StateMark state="skipped" text={`skipped ${nameLayers(layers)}`} /> <span className="dim">{describeCause(layers[0]!.outcome)}</span>
              </summary>
              <div className="evidence">{layers.map(one)}</div>
            </details>
          ))}
    </div>
  );
}

/** The skipped layers of a run, those of one cause together. */
function groupByCause(layers: Score[]): Score[][] {
  const groups = new Map<string, Score[]>();
  for (const each of layers) {
    if (each.outcome.state !== "skipped") continue;
    const cause = each.outcome.cause ?? "";
    groups.set(cause, [...(groups.get(cause) ?? []), each]);
  }
  return [...groups.values()];
}

function nameLayers(layers: Score[]): string {
  return layers.map((each) => each.layer).join(", ");
}

/** Return a cause as a sentence: `The answer holds a value that no source has: $12.34`. */
function describeCause(outcome: Schema["Outcome"]): string {
  if (!outcome.cause_words) return "";
  return `The ${outcome.cause_words}${outcome.detail ? `: ${outcome.detail}` : ""}`;
}

interface LayerEvidenceParts extends Omit<EvidenceParts, "layer"> {
  score: Score;
}

function LayerEvidence({ score, run, project, trace, goToStep, reload }: LayerEvidenceParts) {
  const ours = score.settled ?? score.outcome;
  return (
    <section>
      <h3>
        <Outcome outcome={score.outcome} label={score.layer} />{" "}
        <Link className="anchor" href={addressWith({ layer: score.layer })} aria-label={`link to ${score.layer}`}><Link2 size={13} /></Link>
      </h3>
      {score.settled_by ? (
        <p className="notice">
          Settled by a person, <Plain text={score.settled_by} />
          {score.outcome.explanation ? <>: <Plain text={score.outcome.explanation} /></> : null}
          . Before: <Outcome outcome={ours} />
        </p>
      ) : null}
      <Plain text={ours.explanation} />
      {ours.state === "open" ? <OpenFacts score={score} outcome={ours} run={run} goToStep={goToStep} /> : <Facts facts={score.evidence} run={run} goToStep={goToStep} />}
      {trace ? <Judge trace={trace} project={project} run={run.span_id} layer={score.layer} ours={ours.state ?? ours.verdict} onDone={() => reload?.()} /> : null}
      <OtherScores scores={run.scores.filter((each) => each.layer === score.layer && each.outcome.verdict !== "skipped")} />
    </section>
  );
}

/** What was checked of an open layer, then what is open of it and why. */
function OpenFacts({ score, outcome, run, goToStep }: { score: Score; outcome: Schema["Outcome"]; run: Run; goToStep: (number: number) => void }) {
  const open = score.evidence.filter((fact) => fact.claim === "uncertain");
  const checked = score.evidence.filter((fact) => fact.claim !== "uncertain");
  return (
    <>
      {checked.length ? (
        <>
          <h4>Checked</h4>
          <Facts facts={checked} run={run} goToStep={goToStep} />
        </>
      ) : null}
      <h4><StateMark state="open" /></h4>
      <Plain text={describeCause(outcome)} />
      <Facts facts={open} run={run} goToStep={goToStep} />
    </>
  );
}

/** The scores below a layer, as a table; those with a verdict first. */
function OtherScores({ scores }: { scores: Score[] }) {
  const [most, setMost] = useState(MANY);
  if (!scores.length) return null;
  return (
    <>
      <Table className="scores">
        <Table.Tbody>
          {scores.slice(0, most).map((score) => (
            <Table.Tr key={score.name + score.span_id} title={score.outcome.explanation}>
              <Table.Th scope="row">{score.name.replaceAll("_", " ")}</Table.Th>
              <Table.Td><Outcome outcome={score.outcome} /></Table.Td>
              <Table.Td className="heat">{score.raw === null ? "" : `${formatNumber(score.raw)} ${score.unit}`}</Table.Td>
              <Table.Td className="dim"><Plain text={score.outcome.explanation} /></Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {scores.length > most ? <Button onClick={() => setMost(most + 10 * MANY)}>{scores.length - most} more scores</Button> : null}
    </>
  );
}

function formatNumber(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 6 });
}

function Facts({ facts, run, goToStep }: { facts: Schema["Fact"][]; run: Run; goToStep: (number: number) => void }) {
  if (!facts.length) return null;
  return (
    <ul>
      {facts.map((fact) => {
        const step = fact.span_id && run.step_of_span[fact.span_id];
        return (
          <li>
            <Plain text={fact.what} />
            {fact.recorded !== null ? <div className="dim">recorded <Plain text={fact.recorded} /></div> : null}
            {fact.replayed !== null ? <div className="dim">replayed <Plain text={fact.replayed} /></div> : null}
            {step ? (
              <Button size="compact-xs" onClick={() => goToStep(step)}>
                step {step}
              </Button>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
}

/** Whether traces are found by the attributes of a span: the root's, and those of a run. */
function isOfRun(page: Page, span: Schema["SpanRow"]): boolean {
  return span.parent_id === null || page.runs.some((run) => run.span_id === span.span_id);
}

const LONGEST_VALUE = 120;

/** Links to the traces whose run carries the same value of an attribute. */
function SameAttributes({ span }: { span: Schema["SpanPage"] }) {
  const short = Object.entries({ ...span.resource, ...span.attributes }).filter(
    ([key, value]) => ["string", "number", "boolean"].includes(typeof value) && String(value) && String(value).length <= LONGEST_VALUE && !key.includes("="),
  );
  if (!short.length) return null;
  return (
    <p className="alike">
      <span className="dim">traces with the same</span>{" "}
      {short.map(([key, value], index) => (
        <Link key={index} className="part" href={`/traces?q=${encodeURIComponent(pair(`attribute:${key}`, String(value)))}`} title={String(value)}>
          <Plain text={key} />
        </Link>
      ))}
    </p>
  );
}

function Spans({ page, path }: { page: Page; path: string }) {
  const chosen = here().searchParams.get("span") ?? "";
  const { value: span } = useAnswer<Schema["SpanPage"]>(chosen ? `${path}/spans/${chosen}` : "");
  const [opened, setOpened] = useState(false);
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (chosen && place.current) place.current.open = true;
  }, [chosen]);
  useEffect(() => {
    if (span && opened) place.current?.querySelector("pre.why")?.scrollIntoView({ block: "nearest" });
  }, [span, opened]);
  const depth = new Map<string, number>();
  for (const each of page.spans) depth.set(each.span_id, each.parent_id ? (depth.get(each.parent_id) ?? -1) + 1 : 0);
  return (
    <details ref={place} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        {page.spans.length + page.spans_left_out} spans, as they were received
      </summary>
      <ul className="tree">
        {(opened ? page.spans : []).map((each, index) => (
          <li key={index}>
            <button type="button" aria-expanded={each.span_id === chosen} style={{ paddingLeft: `${8 + 16 * Math.min(20, depth.get(each.span_id) ?? 0)}px` }} onClick={() => go(addressWith({ span: each.span_id === chosen ? null : each.span_id }), true)}>
              <span className="dim">{each.kind}</span>
              <span className="name"><Plain text={each.name} /></span>
              {each.error ? <span className="verdict fail">✗</span> : null}
              <span className="dim">{formatDuration(each.end_ns - each.start_ns)}</span>
            </button>
            {span?.span.span_id === each.span_id ? (
              <pre className="why">
                <Plain text={JSON.stringify({ dialect: span.dialect, attributes: span.attributes, resource: span.resource }, null, 1)} />
              </pre>
            ) : null}
            {span?.span.span_id === each.span_id && isOfRun(page, each) && !report ? <SameAttributes span={span} /> : null}
          </li>
        ))}
      </ul>
      {page.spans_left_out ? <p className="dim">{page.spans_left_out} more are in the store.</p> : null}
    </details>
  );
}
