// Conversations and teams of agents as a whole: how they ended, who erred first, what was lost between agents.
import { Button } from "@mantine/core";
import { useState } from "react";
import { get, LAYERS, type Schema } from "../api";
import { Cli, DataTable, Empty, formatDuration, Head, Link, nameOfWindow, percent, Plain, RunLink, Shown, Time, useAnswer, useHours, useTitle } from "../parts";
import { chosenProject } from "../location";
import { pair, quoted } from "../query";
import type { PageParts } from "../root";
import { LayerMarks, StateMark, statesOf } from "../state";

type Page = Schema["SessionPage"];
type Row = Schema["Session"];

export function Sessions() {
  const hours = useHours();
  const found = useAnswer<Schema["SessionList"]>("sessions", { hours });
  const rates = useAnswer<Schema["Cohorts"]>("cohorts/session", { hours, limit: "200" });
  return (
    <>
      <Head title={`Sessions, last ${nameOfWindow(hours)}`} />
      <Shown loaded={found}>
        {(list) =>
          list.sessions.length ? <List key={`${hours} ${chosenProject()}`} first={list} rates={rates.value} hours={hours} /> : (
            <Empty title="No session in this window">
              <p>Spans with the attribute <code>session.id</code> or <code>gen_ai.conversation.id</code> are joined to sessions.</p>
            </Empty>
          )
        }
      </Shown>
      <Cli line={`spanproof session --since ${Math.round(Number(hours))}h`} />
    </>
  );
}

function List({ first, rates, hours }: { first: Schema["SessionList"]; rates: Schema["Cohorts"] | null; hours: string }) {
  const [rows, setRows] = useState(first.sessions);
  const [next, setNext] = useState(first.next);
  const [busy, setBusy] = useState(false);
  const more = () => {
    setBusy(true);
    const project = chosenProject();
    get<Schema["SessionList"]>("sessions", { hours, cursor: next ?? "", ...(project === null ? {} : { project }) })
      .then((page) => {
        setRows([...rows, ...page.sessions]);
        setNext(page.next);
      })
      .finally(() => setBusy(false));
  };
  return (
    <>
      <DataTable
        label="Sessions"
        rows={rows}
        columns={[
          ["session", (each) => <Link href={`/sessions/${encodeURIComponent(each.id)}`}><Plain text={each.id} /></Link>],
          ["failing layers", (each) => <FailingLayers session={each} rates={rates} hours={hours} />],
          ["service", (each) => <Plain text={each.services.join(", ")} />],
          ["traces", (each) => each.traces, "heat"],
          ["spans", (each) => each.spans, "heat"],
          ["errors", (each) => each.errors || "–", "heat"],
          ["length", (each) => formatDuration(each.end_ns - each.start_ns), "heat"],
          ["last seen", (each) => <Time ns={each.end_ns} relative />, "dim"],
        ]}
      />
      {next ? <Button disabled={busy} onClick={more}>more sessions</Button> : null}
    </>
  );
}

/** The layers that fail or are open in a session, each with a link to the runs; nothing until that is known. */
function FailingLayers({ session, rates, hours }: { session: Row; rates: Schema["Cohorts"] | null; hours: string }) {
  const found = rates?.values.find((each) => each.value === session.id);
  if (!found) return null;
  const rows = LAYERS.flatMap((layer) => {
    const rate = found.layers[layer];
    if (!rate) return [];
    const query = [`layer:${layer}`, pair("session", session.id), `since:${Math.ceil(Number(hours))}h`].join(" ");
    const link = (state: "fail" | "open", count: number) => (
      <span className="part">
        <StateMark state={state} text={`${layer} ${count}${state === "open" ? " open" : ""}`} href={`/traces?q=${encodeURIComponent(`state:${state} ${query}`)}`} />
      </span>
    );
    return [rate.failed ? link("fail", rate.failed) : null, rate.open ? link("open", rate.open) : null].filter(Boolean);
  });
  return <>{rows.length ? rows : <StateMark state={found.state} />}</>;
}

export function Session({ id: given }: PageParts) {
  const id = decodeURIComponent(given);
  const found = useAnswer<Page>(`sessions/${encodeURIComponent(id)}`);
  return (
    <>
      <Shown loaded={found} title="Session">{(page) => <Whole page={page} />}</Shown>
      <Cli line={`spanproof session ${quoted(id)}`} />
    </>
  );
}

function Whole({ page }: { page: Page }) {
  useTitle(page.explanation, page.verdict);
  const first = page.traces[0];
  const last = page.traces.at(-1);
  const mistake = page.first_mistake;
  return (
    <>
      <div className="head-of-run">
        <div className="dim">
          <Link href="/sessions">Sessions</Link> / <Plain text={page.id} />
          {first && last ? (
            <>
              {" "}
              · {page.traces.length} {page.traces.length === 1 ? "trace" : "traces"} · <Time ns={first.start_ns} /> · {formatDuration(last.end_ns - first.start_ns)}
            </>
          ) : null}
        </div>
        <h1><StateMark state={page.verdict} /> <Plain text={page.explanation} /></h1>
        {page.value === null ? null : <p className="dim">{percent(page.value)} of the user's requests ended well, by the last attempt at each.</p>}
        {mistake ? (
          <p>
            First mistake: <RunLink trace={mistake.trace_id} text={`turn ${mistake.turn}`} />, <Plain text={`${mistake.agent}: ${mistake.why}`} />
          </p>
        ) : null}
        {page.cut ? <p className="dim">Of a longer conversation the first 500 traces were read.</p> : null}
      </div>
      <Turns page={page} />
      <h2 className="below">Hand-overs between agents</h2>
      <HandOvers page={page} />
    </>
  );
}

function Turns({ page }: { page: Page }) {
  if (!page.turns.length) {
    return (
      <Empty title="No agent run in this session">
        <p>{page.traces.map((trace, index) => <span key={index} className="part"><RunLink trace={trace.trace_id} /></span>)}</p>
      </Empty>
    );
  }
  const rows = new Map(page.traces.map((trace) => [trace.trace_id, trace]));
  return (
    <DataTable
      label="Turns"
      rows={page.turns}
      idOf={(turn) => `turn-${turn.number}`}
      columns={[
        ["turn", (turn) => (
          <>
            <RunLink trace={turn.trace_id} run={turn.run_span_id} text={`turn ${turn.number}`} />
            <div className="dim"><Time ns={rows.get(turn.trace_id)?.start_ns ?? 0} /></div>
          </>
        )],
        ["verdict", (turn) => <><StateMark state={turn.verdict} />{turn.is_retry ? <div className="dim">requested again</div> : null}</>],
        ["request and answer", (turn) => (
          <>
            {turn.request === null ? <span className="dim">hidden</span> : <Plain text={turn.request} />}
            {turn.answer === null ? null : <div className="dim">→ <Plain text={turn.answer} /></div>}
            {turn.why ? <div><Plain text={turn.why} /></div> : null}
          </>
        ), "wide"],
        ["agent", (turn) => <Plain text={turn.agent} />],
        ["layers", (turn) => <LayerMarks states={statesOf(rows.get(turn.trace_id)?.runs.find((run) => run.span_id === turn.run_span_id))} />],
      ]}
    />
  );
}

function HandOvers({ page }: { page: Page }) {
  if (!page.hand_overs.length) return <p className="dim">No agent passed work to another.</p>;
  return (
    <DataTable
      label="Hand-overs"
      rows={page.hand_overs}
      columns={[
        ["turn", (each) => <RunLink trace={each.trace_id} run={each.receiver_span_id} text={`turn ${each.turn}`} />],
        ["from → to", (each) => <Plain text={`${each.giver} → ${each.receiver}`} />],
        ["not passed on", (each) => <Plain text={each.lost.join(", ") || "–"} />],
        ["worked on instead", ({ replaced }) =>
          replaced.length ? replaced.map((one, index) => <div key={index} className="verdict fail">✗ <Plain text={`${one.used} in place of ${one.given}`} /></div>) : "–"],
      ]}
    />
  );
}
