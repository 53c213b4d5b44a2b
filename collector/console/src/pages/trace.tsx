// What happened, and is the verdict right? Steps, what was recorded beside what was replayed, and the answer with its
// claims: choosing one lights up the output it was held against.
import { Button, Table } from "@mantine/core";
import { ArrowLeftRight, Link2, Pencil } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { LAYERS, type Layer, type Schema } from "../api";
import { Cli, Explanation, formatDuration, Items, Link, Plain, Promote, request, Shown, Time, useAnswer, useKeys, Verdict } from "../parts";
import { pair } from "../query";
import { addressOf, addressOfTraces, addressWith, getParameter, go, here } from "../location";
import { report } from "../answers";
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
const CLAIM_WORDS: Record<Claim["verdict"], string> = { grounded: "grounded", contradicted: "contradicted", uncertain: "open" };

/** What all parts of the page are about. */
interface View {
  page: Page;
  /** Where the API has the trace. */
  path: string;
  run: Run;
  /** Whether the trace can be labelled and promoted: trials are kept in the folder of their experiment. */
  isStored: boolean;
  reload: () => void;
  goToStep: (number: number) => void;
}

/** A trace of the store, or of a trial of an experiment: the API has it at the same path. */
export function Trace() {
  const path = here().pathname.slice(1);
  const step = Number(getParameter("step")) || 1;
  const first = step - ((step - 1) % STEPS_OF_PAGE);
  const page = useAnswer<Page>(path, first > 1 ? { first_step: String(first) } : {});
  return <Shown loaded={page} title="Trace">{(found) => <Whole page={found} path={path} reload={page.reload} />}</Shown>;
}

function Whole({ page, path, reload }: Pick<View, "page" | "path" | "reload">) {
  const gravest = page.runs.find((run) => run.state === page.state);
  const run = page.runs.find((each) => each.span_id === getParameter("run")) ?? gravest ?? page.runs[0];
  if (!run) {
    return (
      <div className="empty">
        <h1>This trace has no agent run</h1>
        <p>It has {page.spans.length} spans, none of which an agent, a model or a tool is recorded on.</p>
        <Spans page={page} path={path} />
      </div>
    );
  }
  const isStored = path.startsWith("traces/");
  return (
    <>
      <Head page={page} run={run} />
      <Columns key={run.span_id} page={page} path={path} run={run} isStored={isStored} reload={reload} />
      {isStored ? <Cli line={`spanproof show ${page.trace_id.slice(0, 12)} --run ${run.span_id}`} /> : report ? null : <Cli line={request(path)} />}
    </>
  );
}

function Head({ page, run }: { page: Page; run: Run }) {
  const facts = [
    `run ${run.span_id.slice(0, 8)}`,
    ...["prompt_version", "model", "release", "executor"].map((name) => run.cohort[name]),
    `${run.step_count.toLocaleString("en")} ${run.step_count === 1 ? "step" : "steps"}`,
    formatDuration(run.end_ns - run.start_ns),
    run.tokens ? `${run.tokens.toLocaleString("en")} tokens` : "",
  ];
  const crumbs = <>{report ? null : <Link href={addressOf("/traces")}>Traces</Link>} / <Plain text={run.agent} /> · <Plain text={facts.filter(Boolean).join(" · ")} /> · <Time ns={run.start_ns} /></>;
  return (
    <Verdict crumbs={crumbs} mark={<StateMark state={run.state} text={run.state === "pass" ? "" : undefined} />} sentence={run.sentence} state={run.state}>
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
    </Verdict>
  );
}

function Columns(given: Omit<View, "goToStep">) {
  const { page, path, run, isStored } = given;
  // The address holds what is chosen: step, claim (its first character in the answer) and layer.
  const claim = run.claims.find((each) => String(each.start) === getParameter("claim")) ?? null;
  const reasonLayer = run.state === "skipped" ? null : run.reason_layer;
  const layer = getParameter("layer") === null ? reasonLayer : LAYERS.find((each) => each === getParameter("layer")) ?? null;
  const isAnswerFirst = run.state === "open" || run.state === "errored" || run.claims.some((each) => each.verdict === "contradicted");
  const [panel, setPanel] = useState(isAnswerFirst ? "answer" : "steps");
  const chooseLayer = (next: Layer | null | undefined) => go(addressWith({ layer: next ?? "all" }), true);
  const stepOfUrl = () => Number(getParameter("step")) || 0;
  const elementOf = (step: number) => document.getElementById(`step-${step}`);
  const chosen = stepOfUrl();
  const goToStep = (number: number) => {
    go(addressWith({ step: String(number) }), true);
    setPanel("steps");
    elementOf(number)?.scrollIntoView({ block: "start" });
  };
  const showSpan = (id: string) => {
    go(addressWith({ span: id }), true);
    setPanel("steps");
  };
  const showClaim = (next: Claim | null) => {
    go(addressWith({ claim: next && String(next.start) }), true);
    const step = next?.span_id && run.step_of_span[next.span_id];
    if (step) goToStep(step);
  };
  const showLayer = (next: Layer | null) => {
    chooseLayer(next);
    setPanel("answer");
  };
  useEffect(() => void elementOf(chosen)?.scrollIntoView({ block: "start" }), []);
  const layers = run.layers.map((each) => each.layer);
  const at = layer ? layers.indexOf(layer) : -1;
  useKeys({
    j: () => goToStep(Math.min(run.step_count, stepOfUrl() + 1)),
    k: () => goToStep(Math.max(1, stepOfUrl() - 1)),
    "]": () => chooseLayer(layers[Math.min(layers.length - 1, at + 1)]),
    "[": () => chooseLayer(layers[Math.max(0, at - 1)]),
    o: () => elementOf(stepOfUrl() || 1)?.querySelectorAll("details").forEach((each) => (each.open = !each.open)),
    Escape: () => showClaim(null),
  });
  const view: View = { ...given, goToStep };
  const imagesOf = (step: number | null) => ({
    images: page.images.filter((each) => each.step === step && [run.span_id, null].includes(each.run_span_id)),
    path,
    project: isStored ? page.project : undefined,
  });
  const canEdit = !report && isStored;
  const isEditing = canEdit && getParameter("edit") !== null;
  const tabs = { answer: "Answer and evidence", steps: "Steps", tree: "Tree" };
  const shown = (name: string) => ({ "data-panel": name, "data-shown": panel === name || undefined });
  return (
    <>
      <div className="badges" role="group" aria-label="Layers">
        {run.layers.filter((score) => score.outcome.state !== "skipped").map((score) => (
          <button key={score.layer}
            type="button"
            className={`badge ${score.outcome.state}`}
            aria-pressed={layer === score.layer}
            onClick={() => showLayer(layer === score.layer ? null : score.layer)}
          >
            <Outcome outcome={score.outcome} label={score.layer} />
          </button>
        ))}
        {groupByCause(run.layers).map(({ cause, names }) => (
          <button key={names} type="button" className="badge" title={cause} onClick={() => showLayer(null)}>
            <StateMark state="skipped" text={`skipped ${names}`} />
          </button>
        ))}
      </div>
      <div className="toolbar">
        <span className="dim"><Plain text={run.replay} /></span>
        <span className="end">
          {canEdit ? <Button leftSection={<Pencil size={14} />} aria-pressed={isEditing} onClick={() => go(addressWith({ edit: isEditing ? null : "1" }))}>edit and run</Button> : null}
          {isStored ? <Promote runs={[{ trace_id: page.trace_id, run_span_id: run.span_id, project: page.project }]} /> : null}
          {canEdit ? <Button component={Link} leftSection={<ArrowLeftRight size={14} />} href={`/compare/runs?${new URLSearchParams({ after: `traces/${page.trace_id}/${run.span_id}` })}`}>compare</Button> : null}
        </span>
      </div>
      {isEditing ? <Suspense><EditRun trace={page.trace_id} project={page.project} recorded={run} /></Suspense> : null}
      <div className="tabs" role="tablist" aria-label="Parts">
        {Object.entries(tabs).map(([name, text]) => (
          <button key={name} type="button" role="tab" aria-selected={panel === name} onClick={() => setPanel(name)}>{text}</button>
        ))}
      </div>
      <div className="trace">
        <nav className="side" aria-label="Steps" {...shown("tree")}>
          <StepsShown run={run} />
          <Tree page={page} run={run} chosen={chosen} choose={goToStep} chooseSpan={showSpan} />
        </nav>
        <div {...shown("steps")}>
          <StepsShown run={run} />
          {run.steps.map((step) => {
            const Part = run.steps.length > MANY ? StepNear : Step;
            return <Part key={step.number} step={step} claim={claim} chosen={step.number === chosen} images={imagesOf(step.number)} />;
          })}
          <StepsShown run={run} />
          <Images {...imagesOf(null)} />
          <Spans page={page} path={path} />
        </div>
        <div className="side" {...shown("answer")}>
          <h2>Task</h2>
          <p className="answer-task">{run.task === null ? <span className="dim">not on the trace</span> : <Plain text={run.task} />}</p>
          <h2>Answer</h2>
          <Answer run={run} claim={claim} choose={showClaim} />
          {claim ? (
            <div className="why" role="status">
              <strong>{CLAIM_WORDS[claim.verdict]}</strong>
              {claim.span_id && run.step_of_span[claim.span_id] ? ` by step ${run.step_of_span[claim.span_id]}` : ""}
              <p><Plain text={claim.why} /></p>
              {claim.found ? <pre><Plain text={claim.found} /></pre> : null}
            </div>
          ) : null}
          <Evidence view={view} layer={layer} />
          {page.feedback.map((said, index) => (
            <p key={index}>User feedback: {said.kind.replace("_", " ")}<Plain text={said.comment ? `: ${said.comment}` : ""} /></p>
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

function Answer({ run: { answer, claims }, claim, choose }: { run: Run; claim: Claim | null; choose: (claim: Claim | null) => void }) {
  if (answer === null) return <p className="dim">none on the trace</p>;
  // Characters are counted as Python counts them: by code point.
  const letters = [...answer];
  const parts = [];
  let at = 0;
  for (const each of [...claims].sort((a, b) => a.start - b.start)) {
    if (each.start < at || each.end > letters.length) continue;
    const word = CLAIM_WORDS[each.verdict];
    parts.push(<Plain text={letters.slice(at, each.start).join("")} />);
    parts.push(
      <button type="button" className={`claim ${each.verdict}`} aria-pressed={claim === each} title={word} onClick={() => choose(claim === each ? null : each)}>
        <Plain text={letters.slice(each.start, each.end).join("")} />
        <span className="skip"> ({word})</span>
      </button>,
    );
    at = each.end;
  }
  parts.push(<Plain text={letters.slice(at).join("")} />);
  const counted = Object.entries(CLAIM_WORDS).map(([verdict, word]) => [claims.filter((each) => each.verdict === verdict).length, word]);
  const words = counted.filter(([count]) => count).map((each) => each.join(" ")).join(", ");
  return (
    <>
      <div className="answer">{parts}</div>
      {claims.length ? (
        <p className="dim">
          {claims.length} {claims.length === 1 ? "claim" : "claims"}: {words}. Choose an underlined claim to see the output it was held against.
        </p>
      ) : null}
    </>
  );
}

/** Each layer with what speaks for its state; skipped layers are folded, by cause. */
function Evidence({ view, layer }: { view: View; layer: string | null }) {
  const { layers } = view.run;
  const shown = layers.filter((each) => (layer ? each.layer === layer : each.outcome.state !== "skipped"));
  const one = (score: Score) => <LayerEvidence key={score.layer} score={score} view={view} />;
  return (
    <div className="evidence">
      {shown.map(one)}
      {(layer ? [] : groupByCause(layers)).map(({ cause, names, scores }) => (
        <details key={names}>
          <summary><StateMark state="skipped" text={`skipped ${names}`} /> <span className="dim">{cause}</span></summary>
          <div className="evidence">{scores.map(one)}</div>
        </details>
      ))}
    </div>
  );
}

/** The skipped layers of a run, those of one cause together. */
function groupByCause(layers: Score[]): { cause: string; names: string; scores: Score[] }[] {
  const skipped = layers.filter((each) => each.outcome.state === "skipped");
  return [...new Set(skipped.map((each) => each.outcome.cause))].map((cause) => {
    const scores = skipped.filter((each) => each.outcome.cause === cause);
    return { cause: describeCause(scores[0]!.outcome), names: scores.map((each) => each.layer).join(", "), scores };
  });
}

/** Return a cause as a sentence: `The answer holds a value that no source has: $12.34`. */
function describeCause(outcome: Schema["Outcome"]): string {
  return outcome.cause_words && `The ${outcome.cause_words}${outcome.detail ? `: ${outcome.detail}` : ""}`;
}

function LayerEvidence({ score, view }: { score: Score; view: View }) {
  const { run, page, isStored, reload } = view;
  const ours = score.settled ?? score.outcome;
  // Of an open layer: what was checked, then what is open of it and why.
  const [checked, open] = [true, false].map((isChecked) => score.evidence.filter((fact) => (fact.claim !== "uncertain") === isChecked));
  return (
    <section>
      <h3>
        <Outcome outcome={score.outcome} label={score.layer} />{" "}
        <Link className="anchor" href={addressWith({ layer: score.layer })} aria-label={`link to ${score.layer}`}><Link2 size={13} /></Link>
      </h3>
      {score.settled_by ? (
        <p className="notice">
          Settled by a person, <Plain text={[score.settled_by, score.outcome.explanation].filter(Boolean).join(": ")} />. Before: <Outcome outcome={ours} />
        </p>
      ) : null}
      <Explanation text={ours.explanation} />
      {ours.state === "open" ? (
        <>
          {checked!.length ? <h4>Checked</h4> : null}
          <Facts facts={checked!} view={view} />
          <h4><StateMark state="open" /></h4>
          <Plain text={describeCause(ours)} />
          <Facts facts={open!} view={view} />
        </>
      ) : <Facts facts={score.evidence} view={view} />}
      {isStored ? <Judge trace={page.trace_id} project={page.project} run={run.span_id} layer={score.layer} ours={ours.state ?? ours.verdict} onDone={reload} /> : null}
      <OtherScores scores={run.scores.filter((each) => each.layer === score.layer && each.outcome.verdict !== "skipped")} />
    </section>
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
              <Table.Td className="heat">{score.raw === null ? "" : `${score.raw.toLocaleString("en", { maximumSignificantDigits: 6 })} ${score.unit}`}</Table.Td>
              <Table.Td className="dim"><Plain text={score.outcome.explanation} /></Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {scores.length > most ? <Button onClick={() => setMost(most + 10 * MANY)}>{scores.length - most} more scores</Button> : null}
    </>
  );
}

function Facts({ facts, view: { run, goToStep } }: { facts: Schema["Fact"][]; view: View }) {
  const rows = facts.map((fact) => {
    const step = fact.span_id && run.step_of_span[fact.span_id];
    return (
      <>
        <Plain text={fact.what} />
        {fact.recorded !== null ? <div className="dim">recorded <Plain text={fact.recorded} /></div> : null}
        {fact.replayed !== null ? <div className="dim">replayed <Plain text={fact.replayed} /></div> : null}
        {step ? <Button size="compact-xs" onClick={() => goToStep(step)}>step {step}</Button> : null}
      </>
    );
  });
  return <Items items={rows} />;
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
      {short.map(([key, value]) => (
        <Link key={key} className="part" href={addressOfTraces(pair(`attribute:${key}`, String(value)))} title={String(value)}><Plain text={key} /></Link>
      ))}
    </p>
  );
}

function Spans({ page, path }: { page: Page; path: string }) {
  const chosen = getParameter("span") ?? "";
  const { value: span } = useAnswer<Schema["SpanPage"]>(chosen ? `${path}/spans/${chosen}` : "");
  const [opened, setOpened] = useState(false);
  const place = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (chosen && place.current) place.current.open = true;
  }, [chosen]);
  useEffect(() => {
    if (span && opened) place.current?.querySelector("pre.why")?.scrollIntoView({ block: "nearest" });
  }, [span, opened]);
  // Traces are found by the attributes of these spans: the root, and those of runs.
  const isFound = (each: Schema["SpanRow"]) => !report && (each.parent_id === null || page.runs.some((run) => run.span_id === each.span_id));
  const depth = new Map<string, number>();
  for (const each of page.spans) depth.set(each.span_id, each.parent_id ? (depth.get(each.parent_id) ?? -1) + 1 : 0);
  return (
    <details ref={place} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{page.spans.length + page.spans_left_out} spans, as they were received</summary>
      <ul className="tree">
        {(opened ? page.spans : []).map((each) => (
          <li key={each.span_id}>
            <button type="button" aria-expanded={each.span_id === chosen} style={{ paddingLeft: `${8 + 16 * Math.min(20, depth.get(each.span_id)!)}px` }} onClick={() => go(addressWith({ span: each.span_id === chosen ? null : each.span_id }), true)}>
              <span className="dim">{each.kind}</span>
              <span className="name"><Plain text={each.name} /></span>
              {each.error ? <span className="verdict fail">✗</span> : null}
              <span className="dim">{formatDuration(each.end_ns - each.start_ns)}</span>
            </button>
            {span?.span.span_id === each.span_id ? (
              <>
                <pre className="why"><Plain text={JSON.stringify({ dialect: span.dialect, attributes: span.attributes, resource: span.resource }, null, 1)} /></pre>
                {isFound(each) ? <SameAttributes span={span} /> : null}
              </>
            ) : null}
          </li>
        ))}
      </ul>
      {page.spans_left_out ? <p className="dim">{page.spans_left_out} more are in the store.</p> : null}
    </details>
  );
}
