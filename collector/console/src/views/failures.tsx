// Which few causes are behind the many failures? Clusters, their trend, who is concerned, and runs to look at.
import type { Schema } from "../api";
import { addressWith, ago, Cli, Empty, Grid, Head, nameOfWindow, percent, Plain, Promote, RunLink, Sent, Shown, Trend, useAnswer, useHours, useSend } from "../parts";
import { pair } from "../query";
import { go } from "../router";

type Cluster = Schema["FailureCluster"];
const STATES = ["open", "acknowledged", "resolved"] as const;

export function Failures() {
  const hours = useHours("168");
  const found = useAnswer<Schema["FailureList"]>("failures", { hours });
  return (
    <>
      <Head title={`What broke, last ${nameOfWindow(hours)}`} hours={hours} />
      <Shown loaded={found}>{(list) => <List clusters={list.failures} hours={hours} />}</Shown>
      <Cli line={`spanproof failures list --since ${hours}h`} />
    </>
  );
}

function List({ clusters, hours }: { clusters: Cluster[]; hours: string }) {
  if (!clusters.length) {
    return (
      <Empty title="Nothing failed in this window">
        <a href={addressWith({ hours: "8784" })}>Look at a year</a>
      </Empty>
    );
  }
  return (
    <Grid label="Clusters of failures" heads={["what broke", "layer", "trend", ["runs", "heat"], ["before", "heat"], "last seen", "state"]}>
      {clusters.map((each) => (
        <tr key={each.id}>
          <th scope="row">
            <a href={`/failures/${each.id}?hours=${hours}`}>
              <Plain text={each.name} />
            </a>
            {each.new_since ? (
              <div class="dim">
                new since <Plain text={each.new_since} />
              </div>
            ) : null}
          </th>
          <td>{each.layer}</td>
          <td>
            <Trend counts={each.trend} label={`${each.runs} runs in this window`} />
          </td>
          <td class="heat">{each.runs}</td>
          <td class="heat dim">{each.runs_before}</td>
          <td class="dim">{ago(each.last_seen_ns)}</td>
          <td>{each.state}</td>
        </tr>
      ))}
    </Grid>
  );
}

export function Failure({ id }: { id: string }) {
  const hours = useHours("168");
  const found = useAnswer<Schema["FailurePage"]>(`failures/${id}`, { hours });
  return <Shown loaded={found} title="Failure">{(page) => <One page={page} hours={hours} reload={found.reload!} />}</Shown>;
}

function One({ page, hours, reload }: { page: Schema["FailurePage"]; hours: string; reload: () => void }) {
  const cluster = page.failure;
  const sending = useSend();
  const settle = (state: string) => {
    sending.run<Cluster>("POST", `failures/${cluster.id}/state`, { state }, (answer) => {
      reload();
      return `It is ${answer.state} now.`;
    });
  };
  const rule = [
    "alerts:",
    `  - name: ${JSON.stringify(cluster.name.slice(0, 80))}`,
    `    layer: ${cluster.layer}`,
    "    measure: fail_rate",
    "    threshold: 0.05",
    "    group_by: [agent, release]",
  ].join("\n");
  return (
    <>
      <div class="head-of-run">
        <div class="dim">
          <a href={`/failures?hours=${hours}`}>Failures</a> / {cluster.layer} · {cluster.kind.replaceAll("_", " ") || "no known kind"} · first seen{" "}
          {ago(cluster.first_seen_ns)}, last {ago(cluster.last_seen_ns)}
        </div>
        <h1>
          <span class="verdict fail">✗</span> <Plain text={cluster.name} />
        </h1>
        <p>
          {cluster.runs} {cluster.runs === 1 ? "run" : "runs"} in the last {nameOfWindow(hours)}, {cluster.runs_before} in the one before.{" "}
          <Trend counts={cluster.trend} label="runs over the window" />
        </p>
        <div class="badges">
          <label>
            state{" "}
            <select value={STATES.includes(cluster.state as "open") ? cluster.state : "open"} onChange={(event) => settle(event.currentTarget.value)}>
              {STATES.map((state) => (
                <option value={state}>{state}</option>
              ))}
            </select>
          </label>
          <Promote runs={page.runs.map(({ trace_id, run_span_id }) => ({ trace_id, run_span_id }))} label={`promote ${page.runs.length} runs`} />
          {cluster.link ? (
            <a href={cluster.link} rel="noreferrer">
              issue
            </a>
          ) : null}
        </div>
        <Sent sending={sending} />
      </div>
      <div class="columns">
        <section>
          <h2>Runs that represent it</h2>
          <Grid label="Runs" heads={["run", "agent", "release", ["what happened", "wide"], "when"]}>
            {page.runs.map((run) => (
              <tr>
                <td>
                  <RunLink trace={run.trace_id} run={run.run_span_id} />
                </td>
                <td>
                  <Plain text={run.agent} />
                </td>
                <td>
                  <Plain text={run.release || "–"} />
                </td>
                <td>
                  <Plain text={run.sample} />
                </td>
                <td class="dim">{ago(run.failed_ns)}</td>
              </tr>
            ))}
          </Grid>
        </section>
        <section>
          {cluster.cause ? (
            <>
              <h2>Suspected cause</h2>
              <p>
                <Plain text={cluster.cause} />
              </p>
              <h2>Suggested fix</h2>
              <p>
                <Plain text={cluster.fix} />
              </p>
            </>
          ) : null}
          <h2>Who is concerned</h2>
          {Object.entries(page.shares).map(([dimension, shares]) => (
            <Shares dimension={dimension} shares={shares} layer={cluster.layer} hours={hours} />
          ))}
          <details>
            <summary>Alert on it</summary>
            <p class="dim">Add this to the configuration; the rule fires for each agent and release.</p>
            <pre class="why">
              <Plain text={rule} />
            </pre>
          </details>
        </section>
      </div>
      <Cli line={`spanproof failures show ${cluster.id}`} />
    </>
  );
}

function Shares({ dimension, shares, layer, hours }: { dimension: string; shares: Schema["FailureShare"][]; layer: string; hours: string }) {
  return (
    <Grid label={dimension} heads={[dimension.replace("_", " "), ["share of its runs", "heat"]]}>
      {shares.slice(0, 5).map((each) => (
        <tr>
          <th scope="row">
            <button type="button" class="plain" onClick={() => go(`/traces?q=${encodeURIComponent(`label:fail layer:${layer} ${pair(dimension, each.value)} since:${hours}h`)}`)}>
              <Plain text={each.value} />
            </button>
          </th>
          <td class="heat" title={`95 % interval ${percent(each.low)} to ${percent(each.high)}`}>
            {percent(each.failing / each.runs)}{" "}
            <span class="dim">
              {each.failing} of {each.runs}
            </span>
          </td>
        </tr>
      ))}
    </Grid>
  );
}
