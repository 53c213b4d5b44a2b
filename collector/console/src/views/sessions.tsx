// Conversations and teams of agents as a whole: how they ended, who erred first, what was lost between agents.
import { useState } from "preact/hooks";
import { get, LAYERS, type Schema } from "../api";
import { ago, Cli, Empty, formatDuration, formatTime, Grid, Head, nameOfWindow, percent, Plain, RunLink, Shown, useAnswer, useHours } from "../parts";
import { pair, quoted } from "../query";
import { Outcome, StateMark } from "../state";

type Page = Schema["SessionPage"];
type Row = Schema["Session"];

export function Sessions() {
  const hours = useHours("168");
  const found = useAnswer<Schema["SessionList"]>("sessions", { hours });
  const rates = useAnswer<Schema["Cohorts"]>("cohorts/session", { hours, limit: "200" });
  return (
    <>
      <Head title={`Sessions, last ${nameOfWindow(hours)}`} hours={hours} />
      <Shown loaded={found}>
        {(list) =>
          list.sessions.length ? (
            <List key={hours} first={list} rates={rates.value} hours={hours} />
          ) : (
            <Empty title="No session in this window">
              <p>
                Spans with the attribute <code>session.id</code> or <code>gen_ai.conversation.id</code> are joined to sessions.
              </p>
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
    get<Schema["SessionList"]>("sessions", { hours, cursor: next ?? "" })
      .then((page) => {
        setRows([...rows, ...page.sessions]);
        setNext(page.next);
      })
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Grid
        label="Sessions"
        heads={["session", "failing layers", "service", ["traces", "heat"], ["spans", "heat"], ["errors", "heat"], ["length", "heat"], "last seen"]}
      >
        {rows.map((each) => (
          <tr key={each.id}>
            <th scope="row">
              <a href={`/sessions/${encodeURIComponent(each.id)}`}>
                <Plain text={each.id} />
              </a>
            </th>
            <td>
              <FailingLayers session={each} rates={rates} hours={hours} />
            </td>
            <td>
              <Plain text={each.services.join(", ")} />
            </td>
            <td class="heat">{each.traces}</td>
            <td class="heat">{each.spans}</td>
            <td class="heat">{each.errors || "–"}</td>
            <td class="heat">{formatDuration(each.end_ns - each.start_ns)}</td>
            <td class="dim">{ago(each.end_ns)}</td>
          </tr>
        ))}
      </Grid>
      {next ? (
        <button type="button" disabled={busy} onClick={more}>
          more sessions
        </button>
      ) : null}
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
      <span class="part">
        <StateMark state={state} text={`${layer} ${count}${state === "open" ? " open" : ""}`} href={`/traces?q=${encodeURIComponent(`state:${state} ${query}`)}`} />
      </span>
    );
    return [rate.failed ? link("fail", rate.failed) : null, rate.open ? link("open", rate.open) : null].filter(Boolean);
  });
  return <>{rows.length ? rows : <StateMark state={found.state} />}</>;
}

export function Session({ id }: { id: string }) {
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
  return (
    <>
      <div class="head-of-run">
        <div class="dim">
          <a href="/sessions">Sessions</a> / <Plain text={page.id} />
          {first && last ? ` · ${page.traces.length} ${page.traces.length === 1 ? "trace" : "traces"} · ${formatTime(first.start_ns)} UTC · ${formatDuration(last.end_ns - first.start_ns)}` : ""}
        </div>
        <h1>
          <StateMark state={page.verdict} /> <Plain text={page.explanation} />
        </h1>
        {page.value === null ? null : <p class="dim">{percent(page.value)} of the user's requests ended well, by the last attempt at each.</p>}
        {mistake ? (
          <p>
            First mistake: <RunLink trace={mistake.trace_id} text={`turn ${mistake.turn}`} />, <Plain text={`${mistake.agent}: ${mistake.why}`} />
          </p>
        ) : null}
        {page.cut ? <p class="dim">Of a longer conversation the first 500 traces were read.</p> : null}
      </div>
      <Turns page={page} />
      <h2 class="below">Hand-overs between agents</h2>
      <HandOvers page={page} />
    </>
  );
}

function Turns({ page }: { page: Page }) {
  if (!page.turns.length) {
    return (
      <Empty title="No agent run in this session">
        <p>
          {page.traces.map((trace) => (
            <span class="part">
              <RunLink trace={trace.trace_id} />
            </span>
          ))}
        </p>
      </Empty>
    );
  }
  const rows = new Map(page.traces.map((trace) => [trace.trace_id, trace]));
  return (
    <Grid label="Turns" heads={["turn", "verdict", ["request and answer", "wide"], "agent", ...LAYERS]}>
      {page.turns.map((turn) => (
        <tr key={turn.trace_id + turn.run_span_id} id={`turn-${turn.number}`}>
          <th scope="row">
            <RunLink trace={turn.trace_id} run={turn.run_span_id} text={`turn ${turn.number}`} />
            <div class="dim">{formatTime(rows.get(turn.trace_id)?.start_ns ?? 0)}</div>
          </th>
          <td>
            <StateMark state={turn.verdict} />
            {turn.is_retry ? <div class="dim">requested again</div> : null}
          </td>
          <td class="said">
            {turn.request === null ? <span class="dim">hidden</span> : <Plain text={turn.request} />}
            {turn.answer === null ? null : (
              <div class="dim">
                → <Plain text={turn.answer} />
              </div>
            )}
            {turn.why ? (
              <div>
                <Plain text={turn.why} />
              </div>
            ) : null}
          </td>
          <td>
            <Plain text={turn.agent} />
          </td>
          {LAYERS.map((layer) => (
            <td>
              <Outcome outcome={rows.get(turn.trace_id)?.runs.find((run) => run.span_id === turn.run_span_id)?.layers[layer]} />
            </td>
          ))}
        </tr>
      ))}
    </Grid>
  );
}

function HandOvers({ page }: { page: Page }) {
  if (!page.hand_overs.length) return <p class="dim">No agent passed work to another.</p>;
  return (
    <Grid label="Hand-overs" heads={["turn", "from → to", "not passed on", "worked on instead"]}>
      {page.hand_overs.map((each) => (
        <tr>
          <th scope="row">
            <RunLink trace={each.trace_id} run={each.receiver_span_id} text={`turn ${each.turn}`} />
          </th>
          <td>
            <Plain text={`${each.giver} → ${each.receiver}`} />
          </td>
          <td>
            <Plain text={each.lost.join(", ") || "–"} />
          </td>
          <td>
            {each.replaced.length ? (
              each.replaced.map((one) => (
                <div class="verdict fail">
                  ✗ <Plain text={`${one.used} in place of ${one.given}`} />
                </div>
              ))
            ) : (
              <span class="dim">–</span>
            )}
          </td>
        </tr>
      ))}
    </Grid>
  );
}
