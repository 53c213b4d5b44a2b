// One case: what a run must do, what became of it in each experiment, and its frozen run replayed with edits.
import { useState } from "react";
import type { Schema } from "../api";
import { quoted } from "../query";
import { Cli, DataTable, Explanation, Items, Link, pathOf, Plain, Properties, RunLink, Shown, Time, useAnswer, Verdict } from "../parts";
import { EditForm } from "../editform";
import { Step } from "../steps";
import { LayerMarks, StateMark } from "../state";
import { OneCell, StatusWords } from "./suites";

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
  const { case: it, history, frozen } = page;
  const [latest] = history;
  const sentence = latest
    ? `in ${latest.experiment}: ${latest.result.passed} of ${latest.result.trials} ${latest.result.trials === 1 ? "trial" : "trials"} passed`
    : "No experiment ran this case yet";
  const crumbs = <><Link href="/suites">Suites</Link> / <Link href={`/suites/${pathOf(page.suite)}`}><Plain text={page.suite} /></Link> / <Plain text={it.id} /></>;
  const mark = latest ? <StateMark state={latest.result.state} text={latest.result.word} /> : null;
  return (
    <>
      <Verdict crumbs={crumbs} mark={mark} sentence={sentence} title={`Case ${it.id}`} state={latest?.result.state}>
        {latest?.result.reason ? <div><Plain text={latest.result.reason} /></div> : null}
      </Verdict>
      <div className="columns">
        <section>
          <h2>Task</h2>
          <p>{it.task ? <Plain text={it.task} /> : <span className="dim">none is given</span>}</p>
          <h2>What a run must do</h2>
          <Items items={it.requirements} />
        </section>
        <section>
          <h2>Frozen run</h2>
          {frozen ? (
            <>
              <p><StateMark state={frozen.state} /> <LayerMarks states={it.expectation} /> <Explanation text={frozen.sentence} /></p>
              <p>
                {frozen.answer ? <>Its answer: <Plain text={frozen.answer} /></> : null}{" "}
                <RunLink trace={it.trace_id} run={it.run_span_id} text="the trace, where the store has it" />
              </p>
            </>
          ) : <p className="dim">People wrote this case; it holds no run.</p>}
          {it.tags.length || it.notes ? (
            <Properties rows={[["tags", it.tags.join(", ") || "none"], ["notes", it.notes || "none"]]} />
          ) : null}
        </section>
      </div>
      <h2 className="below">History</h2>
      {frozen && history.length ? <StatusWords /> : null}
      <DataTable
        label="History"
        rows={history}
        empty={<p className="dim"><code>spanproof suite run {page.suite} --agent … --out DIR</code> in the workspace writes an experiment.</p>}
        columns={[
          ["experiment", (each) => <><Plain text={each.experiment} /><div className="dim"><Plain text={each.agent} /></div></>],
          ["result", ({ result }) => <><OneCell cell={result} />{result.reason ? <div className="dim"><Plain text={result.reason} /></div> : null}</>, "wide"],
          ["trials", ({ trials, experiment }) =>
            trials.map(({ number, state, reason, has_trace }) => (
              <span key={number} className="part">
                <StateMark
                  state={state}
                  text={`${number}${state === "open" ? " open" : ""}`}
                  title={`trial ${number} ${state}${reason ? `: ${reason}` : ""}`}
                  href={has_trace ? `/trials/${experiment}/${page.case.id}/${number}` : null}
                />
              </span>
            ))],
          ["answers", ({ trials }) =>
            [...new Set(trials.map((trial) => trial.answer))].slice(0, 3).map((answer, index) => <div key={index}><Plain text={answer || "none"} /></div>), "wide"],
          ["beside", ({ beside }) => (beside ? <Link href={beside}>{beside.includes("before=cases") ? "the frozen run" : "the one before"}</Link> : "–")],
          ["written", (each) => <Time ns={each.written_ns} relative />, "dim"],
        ]}
      />
      {frozen ? (
        <>
          <h2 className="below">Steps of the frozen run</h2>
          {frozen.steps.map((step) => <Step key={step.number} step={step} claim={null} chosen={false} />)}
        </>
      ) : null}
      <h2 className="below">What if: replay it with an edit</h2>
      {page.can_replay ? <WhatIf page={page} /> : (
        <p className="dim">{page.code.length ? "This console has no sandbox to run code in." : "The case holds no run with code that ran."}</p>
      )}
    </>
  );
}

function WhatIf({ page }: { page: Page }) {
  const [result, setResult] = useState<Schema["AlteredReplay"] | null>(null);
  const show = (answer: Schema["AlteredReplay"]) => {
    setResult(answer);
    return answer.replay;
  };
  return (
    <>
      <p className="dim">Edit the code or a tool's result; the whole run is replayed in the sandbox, beside its record. Nothing is judged or written.</p>
      <EditForm code={page.code} calls={page.calls} path={`suites/${pathOf(page.suite)}/cases/${encodeURIComponent(page.case.id)}/replay`} onDone={show} />
      {result?.steps.map((step) => <Step key={step.number} step={step} claim={null} chosen={false} />)}
    </>
  );
}
