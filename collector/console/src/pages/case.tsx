// One case: what a run must do, what became of it in each experiment, and its frozen run replayed with edits.
import { useState } from "react";
import type { Schema } from "../api";
import { quoted } from "../query";
import { Cli, DataTable, Items, Link, pathOf, Plain, Properties, request, RunLink, Shown, Time, useAnswer, useSend, useTitle } from "../parts";
import { describeEdits, EditForm, type Edits } from "../editform";
import { Step } from "../steps";
import { LayerMarks, StateMark } from "../state";
import { addressBeside, nameStatus, OneCell, StatusWords } from "./suites";

type Page = Schema["CasePage"];

export function Case({ suite, id }: { suite: string; id: string }) {
  const found = useAnswer<Page>(`suites/${suite}/cases/${id}`);
  return (
    <>
      <Shown loaded={found} title="Case">{(page) => <Whole page={page} />}</Shown>
      <Cli line={`spanproof suite show ${quoted(decodeURIComponent(suite))} ${quoted(decodeURIComponent(id))}`} />
    </>
  );
}

function Whole({ page }: { page: Page }) {
  const { case: it, history } = page;
  const [latest] = history;
  useTitle(`Case ${it.id}`, latest?.result.state);
  const sentence = latest
    ? `in ${latest.experiment}: ${latest.result.passed} of ${latest.result.trials} ${latest.result.trials === 1 ? "trial" : "trials"} passed`
    : "No experiment ran this case yet";
  return (
    <>
      <div className="head-of-run">
        <div className="dim">
          <Link href="/suites">Suites</Link> / <Link href={`/suites/${pathOf(page.suite)}`}><Plain text={page.suite} /></Link> / <Plain text={it.id} />
        </div>
        <h1>{latest ? <StateMark state={latest.result.state} text={nameStatus(latest.result)} /> : null} <Plain text={sentence} /></h1>
        {latest?.result.reason ? <div><Plain text={latest.result.reason} /></div> : null}
      </div>
      <div className="columns">
        <section>
          <h2>Task</h2>
          <p>{it.task ? <Plain text={it.task} /> : <span className="dim">none is given</span>}</p>
          <h2>What a run must do</h2>
          <Items items={it.requirements.map((each) => <Plain text={each} />)} />
        </section>
        <section>
          <h2>Frozen run</h2>
          <Frozen page={page} />
          {it.tags.length || it.notes ? (
            <Properties rows={[["tags", <Plain text={it.tags.join(", ") || "none"} />], ["notes", <Plain text={it.notes || "none"} />]]} />
          ) : null}
        </section>
      </div>
      <h2 className="below">History</h2>
      {page.frozen && history.length ? <StatusWords /> : null}
      {history.length ? <History page={page} /> : (
        <p className="dim">
          <code>spanproof suite run {page.suite} --agent … --out DIR</code> in the workspace writes an experiment.
        </p>
      )}
      {page.frozen ? (
        <>
          <h2 className="below">Steps of the frozen run</h2>
          {page.frozen.steps.map((step) => <Step key={step.number} step={step} claim={null} chosen={false} />)}
        </>
      ) : null}
      <h2 className="below">What if: replay it with an edit</h2>
      {page.can_replay ? <WhatIf page={page} /> : <CannotReplay page={page} />}
    </>
  );
}

function Frozen({ page }: { page: Page }) {
  const { frozen, case: it } = page;
  if (!frozen) return <p className="dim">People wrote this case; it holds no run.</p>;
  return (
    <>
      <p><StateMark state={frozen.state} /> <LayerMarks states={it.expectation} /> <Plain text={frozen.sentence} /></p>
      <p>
        {frozen.answer ? <>Its answer: <Plain text={frozen.answer} /></> : null}{" "}
        <RunLink trace={it.trace_id} run={it.run_span_id} text="the trace, where the store has it" />
      </p>
    </>
  );
}

type Entry = Schema["CaseHistory"];

/** Return the address of an experiment's run beside the one before, or beside the frozen run; null where a trace is missing. */
function besideEarlier(page: Page, each: Entry): string | null {
  const earlier = page.history[page.history.indexOf(each) + 1];
  const reference = (run: Entry, trial: Schema["TrialRow"] | undefined) => (trial?.has_trace ? `trials/${run.experiment}/${page.case.id}/${trial.number}` : null);
  const frozen = page.frozen ? `cases/${page.suite}/${page.case.id}` : null;
  const before = (earlier && reference(earlier, earlier.trials.find((trial) => trial.has_trace))) ?? frozen;
  const after = reference(each, each.trials.find((trial) => trial.state !== "pass") ?? each.trials[0]);
  return before && after ? addressBeside(before, after) : null;
}

function History({ page }: { page: Page }) {
  return (
    <DataTable
      label="History"
      rows={page.history}
      columns={[
        ["experiment", (each) => <><Plain text={each.experiment} /><div className="dim"><Plain text={each.agent} /></div></>],
        ["result", ({ result }) => <><OneCell cell={result} />{result.reason ? <div className="dim"><Plain text={result.reason} /></div> : null}</>, "wide"],
        ["trials", ({ trials, experiment }) =>
          trials.map((trial) => (
            <TrialMark key={trial.number} trial={trial} href={trial.has_trace ? `/trials/${experiment}/${page.case.id}/${trial.number}` : null} />
          ))],
        ["answers", ({ trials }) =>
          [...new Set(trials.map((trial) => trial.answer))].slice(0, 3).map((answer, index) => <div key={index}><Plain text={answer || "none"} /></div>), "wide"],
        ["beside", (each) => {
          const address = besideEarlier(page, each);
          return address ? <Link href={address}>{address.includes("before=cases") ? "the frozen run" : "the one before"}</Link> : "–";
        }],
        ["written", (each) => <Time ns={each.written_ns} relative />, "dim"],
      ]}
    />
  );
}

function TrialMark({ trial, href }: { trial: Schema["TrialRow"]; href: string | null }) {
  const title = `trial ${trial.number} ${trial.state}${trial.reason ? `: ${trial.reason}` : ""}`;
  return (
    <span className="part">
      <StateMark state={trial.state} text={`${trial.number}${trial.state === "open" ? " open" : ""}`} title={title} href={href} />
    </span>
  );
}

function CannotReplay({ page }: { page: Page }) {
  return (
    <p className="dim">{page.code.length ? "This console has no sandbox to run code in." : "The case holds no run with code that ran."}</p>
  );
}

function WhatIf({ page }: { page: Page }) {
  const sending = useSend();
  const [result, setResult] = useState<Schema["AlteredReplay"] | null>(null);
  const path = `suites/${pathOf(page.suite)}/cases/${encodeURIComponent(page.case.id)}/replay`;
  const run = (edits: Edits) =>
    sending.run<Schema["AlteredReplay"]>("POST", path, edits, (answer) => {
      setResult(answer);
      return `${describeEdits(edits)}: ${answer.replay}`;
    });
  return (
    <>
      <p className="dim">Edit the code or a tool's result; the whole run is replayed in the sandbox, beside its record. Nothing is judged or written.</p>
      <EditForm code={page.code} calls={page.calls} sending={sending} run={run} />
      {result ? result.steps.map((step) => <Step key={step.number} step={step} claim={null} chosen={false} />) : null}
      <Cli line={`${request(path)} -H 'content-type: application/json' -d '{"sources": {}, "results": {}}'`} />
    </>
  );
}
