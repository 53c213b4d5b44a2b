// Which few causes are behind the many failures? Clusters, their trend, who is concerned, and runs to look at.
import { NativeSelect, Table } from "@mantine/core";
import type { Schema } from "../api";
import { Cli, Empty, Grid, Head, Link, nameOfWindow, percent, Plain, Promote, RunLink, Sent, Shown, Time, Trend, useAnswer, useHours, useSend, useTitle } from "../parts";
import { pair } from "../query";
import { addressWith } from "../location";
import type { PageParts } from "../root";

type Cluster = Schema["FailureCluster"];
const STATES = ["open", "acknowledged", "resolved"] as const;

export function Failures() {
  const hours = useHours();
  const found = useAnswer<Schema["FailureList"]>("failures", { hours });
  return (
    <>
      <Head title={`What broke, last ${nameOfWindow(hours)}`} />
      <Shown loaded={found}>{(list) => <List clusters={list.failures} hours={hours} />}</Shown>
      <Cli line={`spanproof failures list --since ${hours}h`} />
    </>
  );
}

function List({ clusters, hours }: { clusters: Cluster[]; hours: string }) {
  if (!clusters.length) {
    return <Empty title="Nothing failed in this window"><Link href={addressWith({ hours: "8784" })}>Look at a year</Link></Empty>;
  }
  return (
    <Grid label="Clusters of failures" heads={["what broke", "layer", "trend", ["runs", "heat"], ["before", "heat"], "last seen", "state"]}>
      {clusters.map((each) => (
        <Table.Tr key={each.id}>
          <Table.Th scope="row">
            <Link href={`/failures/${each.id}?hours=${hours}`}><Plain text={each.name} /></Link>
            {each.new_since ? <div className="dim">new since <Plain text={each.new_since} /></div> : null}
          </Table.Th>
          <Table.Td>{each.layer}</Table.Td>
          <Table.Td><Trend counts={each.trend} label={`${each.runs} runs in this window`} /></Table.Td>
          <Table.Td className="heat">{each.runs}</Table.Td>
          <Table.Td className="heat dim">{each.runs_before}</Table.Td>
          <Table.Td className="dim"><Time ns={each.last_seen_ns} relative /></Table.Td>
          <Table.Td>{each.state}</Table.Td>
        </Table.Tr>
      ))}
    </Grid>
  );
}

export function Failure({ id }: PageParts) {
  const hours = useHours();
  const found = useAnswer<Schema["FailurePage"]>(`failures/${id}`, { hours });
  return <Shown loaded={found} title="Failure">{(page) => <One page={page} hours={hours} reload={found.reload!} />}</Shown>;
}

function One({ page, hours, reload }: { page: Schema["FailurePage"]; hours: string; reload: () => void }) {
  const cluster = page.failure;
  const sending = useSend();
  useTitle(cluster.name, "fail");
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
      <div className="head-of-run">
        <div className="dim">
          <Link href={`/failures?hours=${hours}`}>Failures</Link> / {cluster.layer} · {cluster.kind.replaceAll("_", " ") || "no known kind"} · first seen{" "}
          <Time ns={cluster.first_seen_ns} relative />, last <Time ns={cluster.last_seen_ns} relative />
        </div>
        <h1><span className="verdict fail">✗</span> <Plain text={cluster.name} /></h1>
        <p>
          {cluster.runs} {cluster.runs === 1 ? "run" : "runs"} in the last {nameOfWindow(hours)}, {cluster.runs_before} in the one before.{" "}
          <Trend counts={cluster.trend} label="runs over the window" />
        </p>
        <div className="badges">
          <NativeSelect
            label="state"
            value={STATES.includes(cluster.state as "open") ? cluster.state : "open"}
            data={[...STATES]}
            onChange={(event) => settle(event.currentTarget.value)}
          />
          <Promote runs={page.runs.map(({ trace_id, run_span_id }) => ({ trace_id, run_span_id }))} label={`promote ${page.runs.length} runs`} />
          {cluster.link ? <Link href={cluster.link} rel="noreferrer">issue</Link> : null}
        </div>
        <Sent sending={sending} />
      </div>
      <div className="columns">
        <section>
          <h2>Runs that represent it</h2>
          <Grid label="Runs" heads={["run", "agent", "release", ["what happened", "wide"], "when"]}>
            {page.runs.map((run, index) => (
              <Table.Tr key={index}>
                <Table.Td><RunLink trace={run.trace_id} run={run.run_span_id} /></Table.Td>
                <Table.Td><Plain text={run.agent} /></Table.Td>
                <Table.Td><Plain text={run.release || "–"} /></Table.Td>
                <Table.Td><Plain text={run.sample} /></Table.Td>
                <Table.Td className="dim"><Time ns={run.failed_ns} relative /></Table.Td>
              </Table.Tr>
            ))}
          </Grid>
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
          {Object.entries(page.shares).map(([dimension, shares], index) => (
            <Shares key={index} dimension={dimension} shares={shares} layer={cluster.layer} hours={hours} />
          ))}
          <details>
            <summary>Alert on it</summary>
            <p className="dim">Add this to the configuration; the rule fires for each agent and release.</p>
            <pre className="why"><Plain text={rule} /></pre>
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
      {shares.slice(0, 5).map((each, index) => (
        <Table.Tr key={index}>
          <Table.Th scope="row">
            <Link href={`/traces?q=${encodeURIComponent(`label:fail layer:${layer} ${pair(dimension, each.value)} since:${hours}h`)}`}>
              <Plain text={each.value} />
            </Link>
          </Table.Th>
          <Table.Td className="heat" title={`95 % interval ${percent(each.low)} to ${percent(each.high)}`}>
            {percent(each.failing / each.runs)}{" "}
            <span className="dim">{each.failing} of {each.runs}</span>
          </Table.Td>
        </Table.Tr>
      ))}
    </Grid>
  );
}
