// One run beside another: what became other, and from which step on. Steps are aligned by the server.
import type { FormEvent } from "react";
import { Button, TextInput } from "@mantine/core";
import { LAYERS, type Layer, type Schema } from "../api";
import { capitalise, Cli, DataTable, Empty, Link, Plain, request, Shown, useAnswer, useTitle } from "../parts";
import { go, here, withProject } from "../location";
import { Outcome, StateMark } from "../state";
import { Calls, Difference, Source, textOf } from "../steps";

type Comparison = Schema["RunComparison"];
type Step = Schema["Step"];

const WORDS: Record<Schema["StepChange"], [string, string]> = {
  same: ["=", "the same"],
  output: ["≠", "the same code gives another output"],
  code: ["≠", "the code differs"],
  removed: ["−", "only before"],
  added: ["+", "only after"],
};

export function Runs() {
  const given = here().searchParams;
  const before = given.get("before") ?? "";
  const after = given.get("after") ?? "";
  const found = useAnswer<Comparison>(before && after ? "compare/runs" : "", { before, after });
  return (
    <>
      <div className="crumbs">
        <Link href="/compare">Compare</Link> / two runs
      </div>
      {before && after ? (
        <Shown loaded={found} title="One run beside another">{(page) => <Both page={page} />}</Shown>
      ) : <Empty title="One run beside another"><ChooseRuns before={before} after={after} /></Empty>}
      <Cli line={request(`compare/runs?${new URLSearchParams({ before, after })}`)} />
    </>
  );
}

/** Name two runs by their references. */
export function ChooseRuns({ before = "", after = "" }: { before?: string; after?: string }) {
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const reference = (name: string) => {
      const text = String(form.get(name)).trim();
      return text.includes("/") ? text : `traces/${text}`;
    };
    go(withProject(`/compare/runs?${new URLSearchParams({ before: reference("before"), after: reference("after") })}`));
  };
  return (
    <form className="fields" onSubmit={choose}>
      <TextInput label="run before" name="before" defaultValue={before} required withAsterisk={false} placeholder="id of a trace" spellCheck={false} />
      <TextInput label="run after" name="after" defaultValue={after} required withAsterisk={false} placeholder="id of a trace" spellCheck={false} />
      <Button type="submit">Show side by side</Button>
    </form>
  );
}

function Both({ page }: { page: Comparison }) {
  const { before, after } = page;
  const changed = page.steps.filter((each) => each.change !== "same").length;
  useTitle(page.sentence, after.run.state);
  return (
    <>
      <div className="head-of-run">
        <h1><Plain text={capitalise(page.sentence)} /></h1>
        <div className="dim">
          {page.steps.length} {page.steps.length === 1 ? "step" : "steps"} aligned, {changed} of them different
        </div>
      </div>
      <div className="pair heads"><RunHead side="before" run={before} /><RunHead side="after" run={after} /></div>
      <Verdicts before={before.run} after={after.run} />
      {groupSteps(page.steps).map((group) =>
        group[0]!.change === "same" ? (
          <details className="same">
            <summary>
              <span className="verdict skipped">= the same</span> {nameSteps(group)}
            </summary>
            {group.map((pair, index) => <Pair key={index} pair={pair} page={page} />)}
          </details>
        ) : (
          group.map((pair, index) => <Pair key={index} pair={pair} page={page} />)
        ),
      )}
      <h2 className="below">Answers</h2>
      <div className="pair">
        <Answer text={before.run.answer} />
        <Answer text={after.run.answer} beside={before.run.answer ?? ""} />
      </div>
    </>
  );
}

/** Neighbours that are the same are one group, everything else is one each. */
function groupSteps(steps: Schema["AlignedSteps"][]): Schema["AlignedSteps"][][] {
  const groups: Schema["AlignedSteps"][][] = [];
  for (const each of steps) {
    const last = groups.at(-1);
    if (each.change === "same" && last?.[0]?.change === "same") last.push(each);
    else groups.push([each]);
  }
  return groups;
}

function nameSteps(group: Schema["AlignedSteps"][]): string {
  const first = group[0]!.after;
  return group.length === 1 ? `step ${first}` : `steps ${first} to ${group.at(-1)!.after}`;
}

function RunHead({ side, run }: { side: string; run: Schema["ComparedRun"] }) {
  const isStored = run.reference.startsWith("traces/");
  const [suite, name] = run.reference.startsWith("cases/") ? splitLast(run.reference.slice("cases/".length)) : [];
  const address = isStored
    ? `/traces/${run.trace_id}?run=${run.run.span_id}`
    : suite
      ? `/suites/${suite}/cases/${name}`
      : `/${run.reference}`;
  const facts = ["prompt_version", "release", "model"].map((key) => run.run.cohort[key]).filter(Boolean);
  return (
    <div>
      <strong>{side}</strong> <StateMark state={run.run.state} />{" "}
      <Link href={address}>
        <Plain text={isStored ? `trace ${run.trace_id.slice(0, 12)}` : suite ? `${name}, frozen run` : run.reference.slice("trials/".length)} />
      </Link>{" "}
      <span className="dim"><Plain text={facts.join(" · ")} /></span>
    </div>
  );
}

function splitLast(text: string): [string, string] {
  const at = text.lastIndexOf("/");
  return [text.slice(0, at), text.slice(at + 1)];
}

function Verdicts({ before, after }: { before: Schema["Run"]; after: Schema["Run"] }) {
  const outcomeOf = (run: Schema["Run"], layer: Layer) => run.layers.find((each) => each.layer === layer)?.outcome;
  const isFlipped = (layer: Layer) => outcomeOf(before, layer)?.state !== outcomeOf(after, layer)?.state;
  const show = (run: Schema["Run"], layer: Layer) => {
    const outcome = outcomeOf(run, layer);
    return <><Outcome outcome={outcome} /> {isFlipped(layer) && outcome ? <span className="dim"><Plain text={outcome.explanation} /></span> : null}</>;
  };
  return (
    <DataTable
      label="Verdicts"
      rows={LAYERS}
      columns={[
        ["layer", (layer) => <>{layer}{isFlipped(layer) ? <span className="dim"> changed</span> : null}</>],
        ["before", (layer) => show(before, layer)],
        ["after", (layer) => show(after, layer)],
      ]}
    />
  );
}

function Pair({ pair, page }: { pair: Schema["AlignedSteps"]; page: Comparison }) {
  const before = page.before.run.steps.find((step) => step.number === pair.before);
  const after = page.after.run.steps.find((step) => step.number === pair.after);
  const [mark, words] = WORDS[pair.change];
  return (
    <section className="step" aria-label={`Step ${pair.before ?? "none"} beside step ${pair.after ?? "none"}`}>
      <header><h2>{mark} {words}</h2></header>
      <div className="pair">
        <Half step={before} beside={after} side="removed" />
        <Half step={after} beside={before} side="added" />
      </div>
    </section>
  );
}

function Half({ step, beside, side }: { step: Step | undefined; beside: Step | undefined; side: "removed" | "added" }) {
  if (!step) return <div className="dim half">no such step</div>;
  return (
    <div className="half">
      <h3>step {step.number}</h3>
      {step.snippets.map((snippet, index) => {
        const other = beside?.snippets[index];
        return (
          <>
            <Source snippet={snippet} beside={other?.lines} side={side} />
            {snippet.executed ? <Output text={textOf(snippet.recorded)} beside={side === "added" && other ? textOf(other.recorded) : null} /> : null}
          </>
        );
      })}
      <Calls calls={step.calls} lit={null} />
      {step.error && !step.snippets.length ? <pre className="calls verdict fail"><Plain text={step.error} /></pre> : null}
    </div>
  );
}

function Output({ text, beside }: { text: string; beside: string | null }) {
  return (
    <div className="calls">
      <h4>output</h4>
      <pre>{beside !== null && beside !== text ? <Difference before={beside} after={text} /> : text ? <Plain text={text} /> : <span className="dim">nothing was printed</span>}</pre>
    </div>
  );
}

function Answer({ text, beside }: { text: string | null; beside?: string }) {
  if (text === null) return <p className="dim">none</p>;
  return <div className="answer">{beside !== undefined && beside !== text ? <Difference before={beside} after={text} /> : <Plain text={text} />}</div>;
}
