// Conversations and teams of agents as a whole: how they ended, who erred first, what was lost between agents.
import { Button } from "@mantine/core";
import { LAYERS, type Schema } from "../api";
import { Cli, DataTable, Empty, formatDuration, Head, Link, nameOfWindow, percent, Plain, RunLink, Shown, Time, useAnswer, useHours, usePages, Verdict } from "../parts";
import { addressOfTraces, ofProject } from "../location";
import { pair, quoted } from "../query";
import type { PageParts } from "../root";
import { LayerMarks, StateMark } from "../state";

type Page = Schema["SessionPage"];
type Row = Schema["Session"];

export function Sessions() {
  const hours = useHours();
  const { pages, error, reload, hasMore, more } = usePages<Schema["SessionList"]>("sessions", { hours, ...ofProject() });
  const rates = useAnswer<Schema["Cohorts"]>("cohorts/session", { hours, limit: "200" });
  const none = (
    <Empty title="No session in this window">
      <p>Spans with the attribute <code>session.id</code> or <code>gen_ai.conversation.id</code> are joined to sessions.</p>
    </Empty>
  );
  return (
    <>
      <Head title={`Sessions, last ${nameOfWindow(hours)}`} />
      <Shown loaded={{ value: pages, error, reload }}>
        {(lists) => (
          <DataTable
            label="Sessions"
            rows={lists.flatMap((list) => list.sessions)}
            empty={none}
            columns={[
              ["session", (each) => <Link href={`/sessions/${encodeURIComponent(each.id)}`}><Plain text={each.id} /></Link>],
              ["failing layers", (each) => <FailingLayers session={each} rates={rates.value} hours={hours} />],
              ["service", (each) => each.services.join(", ")],
              ["traces", (each) => each.traces, "heat"],
              ["spans", (each) => each.spans, "heat"],
              ["errors", (each) => each.errors || "–", "heat"],
              ["length", (each) => formatDuration(each.end_ns - each.start_ns), "heat"],
              ["last seen", (each) => <Time ns={each.end_ns} relative />, "dim"],
            ]}
          />
        )}
      </Shown>
      {hasMore ? <Button disabled={!more} onClick={more}>more sessions</Button> : null}
      <Cli line={`spanproof session --since ${Math.round(Number(hours))}h`} />
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
      <span key={state} className="part">
        <StateMark state={state} text={`${layer} ${count}${state === "open" ? " open" : ""}`} href={addressOfTraces(`state:${state} ${query}`)} />
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
  const first = page.traces[0];
  const last = page.traces.at(-1);
  const mistake = page.first_mistake;
  const crumbs = (
    <>
      <Link href="/sessions">Sessions</Link> / <Plain text={page.id} />
      {first && last ? <> · {page.traces.length} {page.traces.length === 1 ? "trace" : "traces"} · <Time ns={first.start_ns} /> · {formatDuration(last.end_ns - first.start_ns)}</> : null}
    </>
  );
  return (
    <>
      <Verdict crumbs={crumbs} mark={<StateMark state={page.verdict} />} sentence={page.explanation} state={page.verdict}>
        {page.value === null ? null : <p className="dim">{percent(page.value)} of the user's requests ended well, by the last attempt at each.</p>}
        {mistake ? (
          <p>
            First mistake: <RunLink trace={mistake.trace_id} text={`turn ${mistake.turn}`} />, <Plain text={`${mistake.agent}: ${mistake.why}`} />
          </p>
        ) : null}
        {page.cut ? <p className="dim">Of a longer conversation the first 500 traces were read.</p> : null}
      </Verdict>
      <Turns page={page} />
      <h2 className="below">Hand-overs between agents</h2>
      <DataTable
        label="Hand-overs"
        rows={page.hand_overs}
        empty="No agent passed work to another."
        columns={[
          ["turn", (each) => <RunLink trace={each.trace_id} run={each.receiver_span_id} text={`turn ${each.turn}`} />],
          ["from → to", (each) => `${each.giver} → ${each.receiver}`],
          ["not passed on", (each) => each.lost.join(", ") || "–"],
          ["worked on instead", ({ replaced }) =>
            replaced.length ? replaced.map((one, index) => <div key={index} className="verdict fail">✗ <Plain text={`${one.used} in place of ${one.given}`} /></div>) : "–"],
        ]}
      />
    </>
  );
}

function Turns({ page }: { page: Page }) {
  const rows = new Map(page.traces.map((trace) => [trace.trace_id, trace]));
  const none = <Empty title="No agent run in this session"><p>{page.traces.map((trace) => <span key={trace.trace_id} className="part"><RunLink trace={trace.trace_id} /></span>)}</p></Empty>;
  return (
    <DataTable
      label="Turns"
      rows={page.turns}
      empty={none}
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
        ["agent", (turn) => turn.agent],
        ["layers", (turn) => <LayerMarks states={rows.get(turn.trace_id)?.runs.find((run) => run.span_id === turn.run_span_id)?.layer_states ?? {}} />],
      ]}
    />
  );
}
