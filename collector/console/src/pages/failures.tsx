// Which few causes are behind the many failures? Clusters, their trend, who is concerned, and runs to look at.
import { NativeSelect } from "@mantine/core";
import type { Schema } from "../api";
import { between, Cli, ClusterLink, DataTable, Empty, Head, Link, nameOfWindow, percent, Plain, Promote, RunLink, Sent, Shown, Time, Trend, useAnswer, useHours, useSend, Verdict } from "../parts";
import { pair } from "../query";
import { addressOfTraces, addressWith } from "../location";
import type { PageParts } from "../root";

type Cluster = Schema["FailureCluster"];
const YEAR = "8784";
const STATES: Cluster["state"][] = ["open", "acknowledged", "resolved"];

export function Failures() {
  const hours = useHours();
  const found = useAnswer<Schema["FailureList"]>("failures", { hours });
  return (
    <>
      <Head title={`What broke, last ${nameOfWindow(hours)}`} />
      <Shown loaded={found}>
        {({ failures }) => (
          <DataTable
            label="Clusters of failures"
            rows={failures}
            empty={<Empty title="Nothing failed in this window">{hours === YEAR ? null : <Link href={addressWith({ hours: YEAR })}>Look at a year</Link>}</Empty>}
            columns={[
              ["what broke", (each) => <ClusterLink cluster={each} hours={hours} />],
              ["layer", (each) => each.layer],
              ["trend", (each) => <Trend counts={each.trend} label={`${each.runs} runs in this window`} />],
              ["runs", (each) => each.runs, "heat"],
              ["before", (each) => each.runs_before, "heat dim"],
              ["last seen", (each) => <Time ns={each.last_seen_ns} relative />, "dim"],
              ["state", (each) => each.state],
            ]}
          />
        )}
      </Shown>
      <Cli line={`spanproof failures list --since ${hours}h`} />
    </>
  );
}

export function Failure({ id }: PageParts) {
  const hours = useHours();
  const found = useAnswer<Schema["FailurePage"]>(`failures/${id}`, { hours });
  return <Shown loaded={found} title="Failure">{(page) => <One page={page} hours={hours} reload={found.reload} />}</Shown>;
}

function One({ page, hours, reload }: { page: Schema["FailurePage"]; hours: string; reload: () => void }) {
  const cluster = page.failure;
  const sending = useSend(reload);
  const settle = (state: string) => sending.run<Cluster>("POST", `failures/${cluster.id}/state`, { state }, (answer) => `It is ${answer.state} now.`);
  const crumbs = (
    <>
      <Link href={`/failures?hours=${hours}`}>Failures</Link> / {cluster.layer} · {cluster.kind.replaceAll("_", " ") || "no known kind"} · first seen{" "}
      <Time ns={cluster.first_seen_ns} relative />, last <Time ns={cluster.last_seen_ns} relative />
    </>
  );
  return (
    <>
      <Verdict crumbs={crumbs} mark={<span className="verdict fail">✗</span>} sentence={cluster.name} state="fail">
        <p>
          {cluster.runs} {cluster.runs === 1 ? "run" : "runs"} in the last {nameOfWindow(hours)}, {cluster.runs_before} in the one before.{" "}
          <Trend counts={cluster.trend} label="runs over the window" />
        </p>
        <div className="badges">
          <NativeSelect
            label="state"
            value={cluster.state}
            data={STATES.includes(cluster.state) ? STATES : [cluster.state, ...STATES]}
            onChange={(event) => settle(event.currentTarget.value)}
          />
          <Promote runs={page.runs.map(({ trace_id, run_span_id }) => ({ trace_id, run_span_id }))} label={`promote ${page.runs.length} runs`} />
          {cluster.link ? <Link href={cluster.link} rel="noreferrer">issue</Link> : null}
        </div>
        <Sent sending={sending} />
      </Verdict>
      <div className="columns">
        <section>
          <h2>Runs that represent it</h2>
          <DataTable
            label="Runs"
            rows={page.runs}
            columns={[
              ["run", (run) => <RunLink trace={run.trace_id} run={run.run_span_id} />],
              ["agent", (run) => run.agent],
              ["release", (run) => run.release || "–"],
              ["what happened", (run) => run.sample, "wide"],
              ["when", (run) => <Time ns={run.failed_ns} relative />, "dim"],
            ]}
          />
        </section>
        <section>
          {cluster.cause ? (
            <>
              <h2>Suspected cause</h2>
              <p><Plain text={cluster.cause} /></p>
              <h2>Suggested fix</h2>
              <p><Plain text={cluster.fix} /></p>
            </>
          ) : cluster.judge_fix ? (
            <>
              <h2>Fix by the judge</h2>
              <p><Plain text={cluster.judge_fix} /></p>
              <p className="dim">by <Plain text={cluster.judge_model} />, not by a rule</p>
            </>
          ) : (
            <p className="dim">No advice yet: read the runs beside.</p>
          )}
          <h2>Who is concerned</h2>
          {Object.entries(page.shares).map(([dimension, shares]) => (
            <DataTable
              key={dimension}
              label={dimension}
              rows={shares.slice(0, 5)}
              columns={[
                [dimension.replace("_", " "), ({ value }) => (
                  <Link href={addressOfTraces(`label:fail layer:${cluster.layer} ${pair(dimension, value)} since:${hours}h`)}><Plain text={value} /></Link>
                )],
                ["share of its runs", (each) => (
                  <span title={between(each.low, each.high)}>{percent(each.failing / each.runs)} <span className="dim">{each.failing} of {each.runs}</span></span>
                ), "heat"],
              ]}
            />
          ))}
          <details>
            <summary>Alert on it</summary>
            <p className="dim">Add this to the configuration; the rule fires for each agent and release.</p>
            <pre className="why"><Plain text={page.rule} /></pre>
          </details>
        </section>
      </div>
      <Cli line={`spanproof failures show ${cluster.id}`} />
    </>
  );
}
