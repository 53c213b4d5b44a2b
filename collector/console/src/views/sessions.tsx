// Conversations and teams of agents as a whole.
import type { Schema } from "../api";
import { ago, Cli, Empty, formatDuration, formatTime, Grid, Head, nameOfWindow, Outcome, Plain, request, RunLink, Shown, useAnswer, useHours } from "../parts";
import { LAYERS } from "../api";

export function Sessions() {
  const hours = useHours("168");
  const found = useAnswer<Schema["SessionList"]>("sessions", { hours });
  return (
    <>
      <Head title={`Sessions, last ${nameOfWindow(hours)}`} hours={hours} />
      <Shown loaded={found}>
        {(list) =>
          list.sessions.length ? (
            <Grid label="Sessions" heads={["session", "service", ["traces", "heat"], ["spans", "heat"], ["errors", "heat"], ["length", "heat"], "last seen"]}>
              {list.sessions.map((each) => (
                <tr key={each.id}>
                  <th scope="row">
                    <a href={`/sessions/${encodeURIComponent(each.id)}`}>
                      <Plain text={each.id} />
                    </a>
                  </th>
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
          ) : (
            <Empty title="No session in this window">
              <p>
                Spans with the attribute <code>session.id</code> or <code>gen_ai.conversation.id</code> are joined to sessions.
              </p>
            </Empty>
          )
        }
      </Shown>
      <Cli line={request(`sessions?hours=${hours}`)} />
    </>
  );
}

export function Session({ id }: { id: string }) {
  const found = useAnswer<Schema["SessionPage"]>(`sessions/${encodeURIComponent(id)}`);
  return (
    <>
      <Shown loaded={found} title="Session">
        {(page) => {
          const runs = page.traces.flatMap((trace) => trace.runs);
          const failing = runs.filter((run) => LAYERS.some((layer) => run.layers[layer]?.verdict === "fail")).length;
          return (
            <>
              <div class="head-of-run">
                <div class="dim">
                  <a href="/sessions">Sessions</a> / <Plain text={page.id} />
                </div>
                <h1>
                  {page.traces.length} {page.traces.length === 1 ? "turn" : "turns"}, {runs.length} agent runs, {failing} of them failing
                </h1>
              </div>
              <Grid label="Turns" heads={["turn", "started (UTC)", "agents", ...LAYERS]}>
                {page.traces.map((trace, index) => (
                  <tr key={trace.trace_id}>
                    <th scope="row">
                      <RunLink trace={trace.trace_id} text={`turn ${index + 1}`} />
                    </th>
                    <td class="dim">{formatTime(trace.start_ns)}</td>
                    <td>
                      <Plain text={trace.runs.map((run) => run.agent).join(", ") || "no agent run"} />
                    </td>
                    {LAYERS.map((layer) => (
                      <td>
                        <Outcome outcome={worst(trace.runs.map((run) => run.layers[layer]))} />
                      </td>
                    ))}
                  </tr>
                ))}
              </Grid>
            </>
          );
        }}
      </Shown>
      <Cli line={request(`sessions/${encodeURIComponent(id)}`)} />
    </>
  );
}

function worst(outcomes: (Schema["Outcome"] | undefined)[]): Schema["Outcome"] | undefined {
  const order = ["fail", "errored", "open", "pass", "skipped"];
  return outcomes.filter((each) => each !== undefined).sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))[0];
}
