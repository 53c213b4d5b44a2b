// Is anything wrong now? Fail rates with their intervals, over time, and by cohort.
import { Table } from "@mantine/core";
import { Fragment, useMemo, useState } from "react";
import { LAYERS, type Layer, type Schema } from "../api";
import { StackedBars } from "../bars";
import { RateChart, readTimes, type Times } from "../chart";
import { capitalise, Cli, ClusterLink, DataTable, DimensionSelect, formatDollars, formatDuration, Grid, Head, Interval, LayerCells, Link, nameOfWindow, percent, Plain, Shown, Time, Trend, useAnswer, useHours } from "../parts";
import { addressWith, go, here } from "../location";
import { pair } from "../query";
import { describeRate, isState, RateBar, StateMark } from "../state";
import { WaitForFirst } from "./settings";

const DIMENSIONS = ["prompt_version", "release", "model", "agent", "task", "executor"];

export function Overview() {
  const hours = useHours();
  const by = here().searchParams.get("by") ?? "prompt_version";
  const overview = useAnswer<Schema["Overview"]>("overview", { hours });
  const cohorts = useAnswer<Schema["Cohorts"]>(`cohorts/${encodeURIComponent(by)}`, { hours });
  const failures = useAnswer<Schema["FailureList"]>("failures", { hours, limit: "6" });
  const alerts = useAnswer<Schema["AlertList"]>("alerts");
  const newest = useAnswer<Schema["TraceList"]>("traces", { limit: "1" });
  const usage = useAnswer<Schema["Usage"]>("usage", { hours });
  const health = useAnswer<Schema["Health"]>("health");
  // To look for sandboxes takes the server longer than all else.
  const doctor = useAnswer<Schema["Doctor"]>(overview.value ? "doctor" : "");
  if (newest.value && !newest.value.traces.length) {
    return (
      <>
        <Head title="Nothing to show yet" />
        <WaitForFirst />
      </>
    );
  }
  return (
    <>
      <Head title={overview.value ? describeRates(overview.value, hours) : `Fail rates, last ${nameOfWindow(hours)}`} />
      <Shown loaded={overview}>{(found) => <Rates overview={found} hours={hours} />}</Shown>
      <div className="columns">
        <section>
          <h2>What broke, by runs</h2>
          <Shown loaded={failures}>{(found) => <Broken clusters={found.failures} hours={hours} />}</Shown>
          <h2 className="below">
            Which cohort differs, by{" "}
            <DimensionSelect label="Dimension" names={DIMENSIONS} value={by} choose={(name) => go(addressWith({ by: name }), true)} />
          </h2>
          <Shown loaded={cohorts}>{(found) => <Heat cohorts={found} hours={hours} />}</Shown>
          <h2 className="below">Latency, tokens and cost</h2>
          <Shown loaded={usage}>{(found) => <Usage usage={found} hours={hours} />}</Shown>
        </section>
        <section>
          <h2>Volume</h2>
          <Shown loaded={overview}>{(found) => <Volume overview={found} />}</Shown>
          <h2 className="below">Firing</h2>
          <Shown loaded={alerts}>{(found) => <Firing alerts={found.alerts} rules={found.rules.length} />}</Shown>
          <h2 className="below">Not judged</h2>
          <Shown loaded={overview}>{(found) => <NotJudged overview={found} />}</Shown>
          <h2 className="below">Health</h2>
          <Shown loaded={health}>{(found) => <Numbers readings={found.readings} newest={newest.value?.traces[0]} />}</Shown>
          {doctor.value ? <Sandboxes backends={doctor.value.backends} /> : null}
        </section>
      </div>
      <Cli line={`spanproof traces --failing --since ${hours}h`} />
    </>
  );
}

/** Return the verdicts that a layer gave or could not give. */
function countOf(rate: Schema["Rate"] | null | undefined): number {
  return rate ? rate.passed + rate.failed + rate.errored + rate.skipped + rate.open : 0;
}

/** Return whether anything is wrong, as a person would say it. */
function describeRates(overview: Schema["Overview"], hours: string): string {
  const window = `the last ${nameOfWindow(hours)}`;
  const worst = LAYERS.map((layer) => ({ layer, rate: overview.layers[layer]! })).sort((a, b) => (b.rate.rate ?? 0) - (a.rate.rate ?? 0))[0]!;
  if (worst.rate.failed) {
    return capitalise(`${worst.layer} fails most in ${window}: ${describeRate(worst.rate)}`);
  }
  const opened = LAYERS.map((layer) => ({ layer, open: overview.layers[layer]!.open })).sort((a, b) => b.open - a.open)[0]!;
  if (opened.open) return `No run failed in ${window}, and ${opened.open.toLocaleString("en")} are open on ${opened.layer}`;
  return worst.rate.passed ? `No run failed in ${window}` : `No run was judged in ${window}`;
}

function Volume({ overview }: { overview: Schema["Overview"] }) {
  const times = useMemo(() => readTimes(overview), [overview]);
  const runs = Math.max(...LAYERS.map((layer) => countOf(overview.layers[layer])));
  const counts = times.starts.map((_, place) => Math.max(...LAYERS.map((layer) => countOf(times.rates[layer][place]))));
  const busiest = Math.max(...counts);
  return (
    <p>
      <Trend counts={counts} label={`runs over time, at most ${busiest} in a stretch`} /> {runs.toLocaleString("en")} runs
      {busiest ? <span className="dim">, at most {busiest.toLocaleString("en")} in {formatDuration(overview.bucket_ns)}</span> : null}
    </p>
  );
}

/** What traces took over time, and which agents and models took it. */
function Usage({ usage, hours }: { usage: Schema["Usage"]; hours: string }) {
  const { points, shares } = usage;
  if (!points.length) return <p className="dim">No trace began in this window.</p>;
  const latest = points.at(-1)!;
  const sum = (read: (point: Schema["UsagePoint"]) => number | null) => points.reduce((all, point) => all + (read(point) ?? 0), 0);
  const tokens = sum((point) => point.tokens);
  const isPriced = points.some((point) => point.cost_usd !== null);
  const rows: [string, number[], string][] = [
    ["p50", points.map((point) => point.p50_s), `latest ${formatDuration(latest.p50_s * 1e9)}`],
    ["p95", points.map((point) => point.p95_s), `latest ${formatDuration(latest.p95_s * 1e9)}`],
    ["tokens", tokens ? points.map((point) => point.tokens) : [], tokens ? tokens.toLocaleString("en") : "not on the traces"],
    ["cost", isPriced ? points.map((point) => point.cost_usd ?? 0) : [], isPriced ? formatDollars(sum((point) => point.cost_usd)) : "no price is known"],
  ];
  return (
    <>
      <dl className="facts">
        {rows.map(([name, counts, words]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{counts.length ? <Trend counts={counts} label={`${name} over time`} /> : null} {words}</dd>
          </Fragment>
        ))}
      </dl>
      <DataTable
        label="Tokens and cost"
        rows={shares}
        columns={[
          ["agent", (each) => <Link href={`/traces?${new URLSearchParams({ q: `${pair("agent", each.agent)} since:${hours}h`, order: "cost" })}`}><Plain text={each.agent || "–"} /></Link>],
          ["model", (each) => <Plain text={each.model || "–"} />],
          ["runs", (each) => each.runs.toLocaleString("en"), "heat"],
          ["tokens", (each) => (each.tokens ? each.tokens.toLocaleString("en") : "–"), "heat"],
          ["cost", (each) => formatDollars(each.cost_usd), "heat"],
          ["a run", (each) => formatDollars(each.cost_usd === null ? null : each.cost_usd / each.runs), "heat"],
        ]}
      />
    </>
  );
}

function Broken({ clusters, hours }: { clusters: Schema["FailureCluster"][]; hours: string }) {
  if (!clusters.length) return <p className="dim">Nothing failed in this window.</p>;
  return (
    <DataTable
      label="What broke"
      rows={clusters}
      columns={[
        ["cause", (each) => <ClusterLink cluster={each} hours={hours} />],
        ["trend", (each) => <Trend counts={each.trend} label={`${each.runs} runs in this window`} />],
        ["runs", (each) => each.runs, "heat"],
        ["last seen", (each) => <Time ns={each.last_seen_ns} relative />, "dim"],
      ]}
    />
  );
}

function Firing({ alerts, rules }: { alerts: Schema["AlertRow"][]; rules: number }) {
  const firing = alerts.filter((each) => each.status === "firing");
  if (!firing.length) return <p className="dim">Nothing fires{rules ? `; ${rules} rules are watched` : "; no rule is configured"}.</p>;
  return (
    <ul className="behind">
      {firing.map((each, index) => (
        <li key={index}>
          <Link href="/alerts" className="verdict fail">
            ✗ <Plain text={each.rule} />
          </Link>{" "}
          <Plain text={each.summary} /> <span className="dim">since <Time ns={each.since_ns} relative /></span>
        </li>
      ))}
    </ul>
  );
}

const SHOWN_HEALTH = [
  "receive_spans_total", "receive_spans_refused_total", "backlog_bytes", "traces_evaluated_total", "evaluation_pending_traces",
  "traces_failed_total", "evaluation_attempts_failed_total", "sink_waiting_scores", "forward_waiting_requests", "notifications_waiting",
].map((name) => `spanproof_${name}`);

function Numbers({ readings, newest }: { readings: Schema["Reading"][]; newest: Schema["TraceRow"] | undefined }) {
  const shown = SHOWN_HEALTH.flatMap((name) => readings.filter((each) => each.name === name));
  return (
    <>
      <p>{newest ? <>The newest trace began <Time ns={newest.start_ns} relative />.</> : null}</p>
      {shown.length ? (
        <dl className="facts">
          {shown.map((each, index) => (
            <Fragment key={index}>
              <dt title={each.meaning}>{each.name.replace(/^spanproof_|_total$/g, "").replaceAll("_", " ")}</dt>
              <dd>{each.value.toLocaleString("en")}</dd>
            </Fragment>
          ))}
        </dl>
      ) : <p className="dim">This process collects nothing; it reads a store.</p>}
    </>
  );
}

function Sandboxes({ backends }: { backends: Schema["Backend"][] }) {
  const usable = backends.filter((each) => each.usable);
  return (
    <p>
      {usable.length ? (
        <span className="verdict pass">✓ {usable.map((each) => `${each.name} (${each.tier})`).join(", ")}</span>
      ) : <span className="verdict fail">✗ no sandbox can be used here</span>}{" "}
      <Link href="/settings">sandboxes</Link>
    </p>
  );
}

function Rates({ overview, hours }: { overview: Schema["Overview"]; hours: string }) {
  const times = useMemo(() => readTimes(overview), [overview]);
  return (
    <div className="rates">
      {LAYERS.map((layer) => (
        <RateCard key={layer} layer={layer} rate={overview.layers[layer]!} times={times} releases={overview.releases} hours={hours} />
      ))}
    </div>
  );
}

interface RateCardParts {
  layer: Layer;
  rate: Schema["Rate"];
  times: Times;
  releases: Schema["Overview"]["releases"];
  hours: string;
}

function RateCard({ layer, rate, times, releases, hours }: RateCardParts) {
  const [point, setPoint] = useState<string | null>(null);
  const query = encodeURIComponent(`${rate.failed || !rate.open ? "label:fail" : "state:open"} layer:${layer} since:${hours}h`);
  return (
    <Link className="rate" href={`/traces?q=${query}`}>
      <div>{layer}</div>
      <div className="number">
        <StateMark state={rate.state} text={percent(rate.rate)} />{" "}
        <small className="dim">{rate.low === null ? "" : `${percent(rate.low)} to ${percent(rate.high)}`}</small>
      </div>
      <Interval low={rate.low} high={rate.high} n={rate.judged} />
      <div className="dim point">{point ?? describeRate(rate)}</div>
      <RateBar rate={rate} />
      <RateChart layer={layer} times={times} releases={releases} point={setPoint} />
      <StackedBars
        label={`${layer}: failed, open and passed verdicts over time`}
        bars={times.rates[layer].map((rate) => ({
          title: rate ? describeRate(rate) : undefined,
          parts: rate ? [["passed", rate.passed], ["open", rate.open], ["failed", rate.failed]] : [],
        }))}
      />
    </Link>
  );
}

function Heat({ cohorts, hours }: { cohorts: Schema["Cohorts"]; hours: string }) {
  if (!cohorts.values.length) return <p className="dim">Nothing was judged in this window.</p>;
  const worst = (layers: Schema["CohortRates"]["layers"]) => Math.max(...Object.values(layers).map((rate) => rate.rate ?? 0));
  const values = [...cohorts.values].sort((a, b) => worst(b.layers) - worst(a.layers));
  const most = Math.max(0.01, worst(values[0]!.layers));
  return (
    <Grid label="Cohorts" heads={[cohorts.dimension.replace("_", " "), ...LAYERS.map((layer): [string, string] => [layer, "heat"])]}>
      {values.map((each) => (
        <Table.Tr key={each.value}>
          <Table.Th scope="row"><Plain text={each.value || "(none given)"} /></Table.Th>
          <LayerCells layers={each.layers} dimension={cohorts.dimension} value={each.value} hours={hours} most={most} />
        </Table.Tr>
      ))}
    </Grid>
  );
}

type Cause = Schema["Overview"]["not_judged"][number] & { layer?: Layer };

function NotJudged({ overview }: { overview: Schema["Overview"] }) {
  const reasons: Cause[] = overview.not_judged;
  if (!reasons.length) return <p className="dim">Every layer of every run was judged.</p>;
  const rates = Object.values(overview.layers);
  const all = rates.reduce((sum, rate) => sum + countOf(rate), 0);
  return (
    <DataTable
      label="Not judged"
      rows={reasons}
      columns={[
        ["why", (each) => <><StateMark state={isState(each.outcome) ? each.outcome : "skipped"} label={each.layer} /> <Plain text={`The ${each.reason}`} /></>],
        ["share, outcomes", (each) => <>{percent(all ? each.times / all : null)} <span className="dim">{each.times}</span></>, "heat"],
      ]}
    />
  );
}
