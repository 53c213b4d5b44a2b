// One run beside another: what became other, and from which step on. Steps are aligned by the server.
import { Fragment } from "react";
import { Button, TextInput } from "@mantine/core";
import { LAYERS, type Layer, type Schema } from "../api";
import { Cli, DataTable, Empty, Explanation, Form, Link, Plain, request, Shown, useAnswer, Verdict } from "../parts";
import { getParameter, go, withProject } from "../location";
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
  const before = getParameter("before") ?? "";
  const after = getParameter("after") ?? "";
  const found = useAnswer<Comparison>(before && after ? "compare/runs" : "", { before, after });
  return (
    <>
      <div className="crumbs"><Link href="/compare">Compare</Link> / two runs</div>
      {before && after ? (
        <Shown loaded={found} title="One run beside another">{(page) => <Both page={page} />}</Shown>
      ) : <Empty title="One run beside another"><ChooseRuns before={before} after={after} /></Empty>}
      <Cli line={request(`compare/runs?${new URLSearchParams({ before, after })}`)} />
    </>
  );
}

/** Name two runs by their references. */
export function ChooseRuns({ before = "", after = "" }: { before?: string; after?: string }) {
  const referTo = (text: string) => (text.includes("/") ? text.trim() : `traces/${text.trim()}`);
  const choose = (fields: Record<string, string>) =>
    go(withProject(`/compare/runs?${new URLSearchParams({ before: referTo(fields.before!), after: referTo(fields.after!) })}`));
  return (
    <Form className="fields" submit={choose}>
      <TextInput label="run before" name="before" defaultValue={before} required placeholder="id of a trace" />
      <TextInput label="run after" name="after" defaultValue={after} required placeholder="id of a trace" />
      <Button type="submit">Show side by side</Button>
    </Form>
  );
}

function Both({ page }: { page: Comparison }) {
  const { before, after } = page;
  const changed = page.steps.filter((each) => each.change !== "same").length;
  return (
    <>
      <Verdict sentence={page.sentence.charAt(0).toUpperCase() + page.sentence.slice(1)} state={after.run.state}>
        <div className="dim">{page.steps.length} {page.steps.length === 1 ? "step" : "steps"} aligned, {changed} of them different</div>
      </Verdict>
      <div className="pair heads"><RunHead side="before" run={before} /><RunHead side="after" run={after} /></div>
      <Verdicts before={before.run} after={after.run} />
      {groupSteps(page.steps).map((group, index) => {
        const pairs = group.map((pair, at) => <Pair key={at} pair={pair} page={page} />);
        if (group[0]!.change !== "same") return <Fragment key={index}>{pairs}</Fragment>;
        return <details key={index} className="same"><summary><span className="verdict skipped">= the same</span> {nameSteps(group)}</summary>{pairs}</details>;
      })}
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

function RunHead({ side, run: { run, path, name } }: { side: string; run: Schema["ComparedRun"] }) {
  const facts = ["prompt_version", "release", "model"].map((key) => run.cohort[key]).filter(Boolean);
  return (
    <div>
      <strong>{side}</strong> <StateMark state={run.state} /> <Link href={path}><Plain text={name} /></Link>{" "}
      <span className="dim"><Plain text={facts.join(" · ")} /></span>
    </div>
  );
}

function Verdicts({ before, after }: { before: Schema["Run"]; after: Schema["Run"] }) {
  const outcomeOf = (run: Schema["Run"], layer: Layer) => run.layers.find((each) => each.layer === layer)?.outcome;
  const isFlipped = (layer: Layer) => outcomeOf(before, layer)?.state !== outcomeOf(after, layer)?.state;
  const show = (run: Schema["Run"], layer: Layer) => {
    const outcome = outcomeOf(run, layer);
    return <><Outcome outcome={outcome} /> {isFlipped(layer) && outcome ? <span className="dim"><Explanation text={outcome.explanation} /></span> : null}</>;
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
        const text = textOf(snippet.recorded);
        const before = side === "added" && other ? textOf(other.recorded) : text;
        return (
          <Fragment key={snippet.id}>
            <Source snippet={snippet} beside={other?.lines} side={side} />
            {snippet.executed ? (
              <div className="calls">
                <h4>output</h4>
                <pre>{before !== text ? <Difference before={before} after={text} /> : text ? <Plain text={text} /> : <span className="dim">nothing was printed</span>}</pre>
              </div>
            ) : null}
          </Fragment>
        );
      })}
      <Calls calls={step.calls} lit={null} />
      {step.error && !step.snippets.length ? <pre className="calls verdict fail"><Plain text={step.error} /></pre> : null}
    </div>
  );
}

function Answer({ text, beside }: { text: string | null; beside?: string }) {
  if (text === null) return <p className="dim">none</p>;
  return <div className="answer">{beside !== undefined && beside !== text ? <Difference before={beside} after={text} /> : <Plain text={text} />}</div>;
}
