// Is anything wrong now? Fail rates with their intervals, over time, and by cohort.
import { useState } from "react";
import { LAYERS, type Layer, type Schema } from "../api";
import { StackedBars } from "../bars";
import { findTop, RateChart } from "../chart";
import { between, Cli, ClusterLink, DataTable, DimensionSelect, formatDollars, formatDuration, Head, Interval, Items, Link, nameOfWindow, percent, Plain, points, Properties, Shown, Time, Trend, useAnswer, useHours, type Column } from "../parts";
import { addressOfTraces, addressWith, getParameter, go, joinQuery } from "../location";
import { pair } from "../query";
import { Change, listShares, RateBar, RateMark, StateMark } from "../state";
import { WaitForFirst } from "./settings";

const DIMENSIONS = ["prompt_version", "release", "model", "agent", "task", "executor"];

export function Overview() {
  const hours = useHours();
  const by = getParameter("by") ?? "prompt_version";
  const isCompared = getParameter("compare") === "before";
  const overview = useAnswer<Schema["Overview"]>("overview", { hours });
  const cohorts = useAnswer<Schema["Cohorts"]>(`cohorts/${encodeURIComponent(by)}`, { hours });
  const earlier = useAnswer<Schema["Comparison"]>(isCompared ? "compare" : "", { dimension: "window", hours });
  const failures = useAnswer<Schema["FailureList"]>("failures", { hours, limit: "6" });
  const alerts = useAnswer<Schema["AlertList"]>("alerts");
  const newest = useAnswer<Schema["TraceList"]>("traces", { limit: "1" });
  const usage = useAnswer<Schema["Usage"]>("usage", { hours });
  const health = useAnswer<Schema["Health"]>("health");
  // To look for sandboxes takes the server longer than all else.
  const doctor = useAnswer<Schema["Doctor"]>(overview.value ? "doctor" : "");
  if (newest.value && !newest.value.traces.length) {
    return <><Head title="Nothing to show yet" /><WaitForFirst /></>;
  }
  return (
    <>
      <Head title={overview.value?.sentence ?? `Fail rates, last ${nameOfWindow(hours)}`} state={overview.value?.state} />
      <Shown loaded={overview}>{(found) => <Rates overview={found} hours={hours} earlier={earlier.value?.layers} />}</Shown>
      <div className="columns tables">
        <section>
          <h2>What broke, by runs</h2>
          <Shown loaded={failures}>
            {(found) => (
              <DataTable
                label="What broke"
                rows={found.failures}
                empty="Nothing failed in this window."
                columns={[
                  ["cause", (each) => <ClusterLink cluster={each} hours={hours} />],
                  ["trend", (each) => <Trend counts={each.trend} label={`${each.runs} runs in this window`} />],
                  ["runs", (each) => each.runs, "heat"],
                  ["last seen", (each) => <Time ns={each.last_seen_ns} relative />, "dim"],
                ]}
              />
            )}
          </Shown>
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
          <Shown loaded={overview}>
            {({ not_judged }) => (
              <DataTable
                label="Not judged"
                rows={not_judged}
                empty="Every layer of every run was judged."
                columns={[
                  ["why", (each) => <><StateMark state={each.outcome} label={each.layer} /> <Plain text={`The ${each.reason}`} /></>],
                  ["share, outcomes", (each) => <>{percent(each.share)} <span className="dim">{each.times}</span></>, "heat"],
                ]}
              />
            )}
          </Shown>
          <h2 className="below">Health</h2>
          <Shown loaded={health}>{(found) => <Numbers readings={found.readings} newestNs={newest.value?.traces[0]?.start_ns} />}</Shown>
          {doctor.value ? <Sandboxes usable={doctor.value.backends.filter((each) => each.usable)} /> : null}
        </section>
      </div>
      <Cli line={`spanproof traces --failing --since ${hours}h`} />
    </>
  );
}

function Volume({ overview: { run_counts: counts, runs, bucket_ns } }: { overview: Schema["Overview"] }) {
  const busiest = Math.max(...counts);
  return (
    <p>
      <Trend counts={counts} label={`runs over time, at most ${busiest} in a stretch`} /> {runs.toLocaleString("en")} runs
      {busiest ? <span className="dim">, at most {busiest.toLocaleString("en")} in {formatDuration(bucket_ns)}</span> : null}
    </p>
  );
}

/** What traces took over time, and which agents and models took it. */
function Usage({ usage: { points, shares }, hours }: { usage: Schema["Usage"]; hours: string }) {
  if (!points.length) return <p className="dim">No trace began in this window.</p>;
  const latest = points.at(-1)!;
  const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0);
  const tokens = points.map((point) => point.tokens);
  const costs = points.map((point) => point.cost_usd ?? 0);
  const isPriced = points.some((point) => point.cost_usd !== null);
  const rows: [string, number[], string][] = [
    ["p50", points.map((point) => point.p50_s), `latest ${formatDuration(latest.p50_s * 1e9)}`],
    ["p95", points.map((point) => point.p95_s), `latest ${formatDuration(latest.p95_s * 1e9)}`],
    ["tokens", tokens.some(Boolean) ? tokens : [], sum(tokens) ? sum(tokens).toLocaleString("en") : "not on the traces"],
    ["cost", isPriced ? costs : [], isPriced ? formatDollars(sum(costs)) : "no price is known"],
  ];
  return (
    <>
      <Properties rows={rows.map(([name, counts, words]) => [name, <>{counts.length ? <Trend counts={counts} label={`${name} over time`} /> : null} {words}</>])} />
      <DataTable
        label="Tokens and cost"
        rows={shares}
        columns={[
          ["agent", (each) => <Link href={joinQuery("/traces", { q: `${pair("agent", each.agent)} since:${hours}h`, order: "cost" })}><Plain text={each.agent || "–"} /></Link>],
          ["model", (each) => each.model || "–"],
          ["runs", (each) => each.runs.toLocaleString("en"), "heat"],
          ["tokens", (each) => (each.tokens ? each.tokens.toLocaleString("en") : "–"), "heat"],
          ["cost", (each) => formatDollars(each.cost_usd), "heat"],
          ["a run", (each) => formatDollars(each.cost_usd === null ? null : each.cost_usd / each.runs), "heat"],
        ]}
      />
    </>
  );
}

function Firing({ alerts, rules }: { alerts: Schema["AlertRow"][]; rules: number }) {
  const firing = alerts.filter((each) => each.status === "firing");
  if (!firing.length && !rules) return <p className="dim">Nothing fires: there is no rule. <Link href="/alerts">Make one</Link></p>;
  if (!firing.length) return <p className="dim">Nothing fires; {rules} {rules === 1 ? "rule is" : "rules are"} watched.</p>;
  return (
    <Items
      items={firing.map((each) => (
        <>
          <Link href="/alerts" className="verdict fail">✗ <Plain text={each.rule} /></Link>{" "}
          <Plain text={each.summary} /> <span className="dim">since <Time ns={each.since_ns} relative /></span>
        </>
      ))}
    />
  );
}

const SHOWN_HEALTH = [
  "receive_spans_total", "receive_spans_refused_total", "backlog_bytes", "traces_evaluated_total", "evaluation_pending_traces",
  "traces_failed_total", "evaluation_attempts_failed_total", "sink_waiting_scores", "forward_waiting_requests", "notifications_waiting",
].map((name) => `spanproof_${name}`);

function Numbers({ readings, newestNs }: { readings: Schema["Reading"][]; newestNs: number | undefined }) {
  const shown = SHOWN_HEALTH.flatMap((name) => readings.filter((each) => each.name === name));
  const nameOf = (each: Schema["Reading"]) => each.name.replace(/^spanproof_|_total$/g, "").replaceAll("_", " ");
  return (
    <>
      <p>{newestNs === undefined ? null : <>The newest trace began <Time ns={newestNs} relative />.</>}</p>
      {shown.length ? (
        <Properties rows={shown.map((each) => [<span title={each.meaning}>{nameOf(each)}</span>, each.value.toLocaleString("en")])} />
      ) : <p className="dim">This process collects nothing; it reads a store.</p>}
    </>
  );
}

function Sandboxes({ usable }: { usable: Schema["Backend"][] }) {
  return (
    <p>
      {usable.length ? <>Code runs in {usable.map((each) => `${each.name} (${each.tier})`).join(", ")}:</> : <span className="verdict fail">✗ no sandbox can be used here</span>}{" "}
      <Link href="/settings">sandboxes</Link>
    </p>
  );
}

interface RatesParts {
  overview: Schema["Overview"];
  hours: string;
  /** The rates beside those of the window before, where they are compared. */
  earlier: Schema["Comparison"]["layers"] | undefined;
}

function Rates({ overview, hours, earlier }: RatesParts) {
  const top = findTop(overview.rates);
  const [pointed, point] = useState<Partial<Record<Layer, string | null>>>({});
  return (
    <div className="rates">
      {LAYERS.map((layer) => {
        const rate = overview.layers[layer]!;
        const pair = earlier?.[layer];
        const state = rate.failed || !rate.open ? "label:fail" : "state:open";
        const bars = overview.rates[layer]!.map((each) => ({ title: each?.words, parts: each ? listShares(each) : [] }));
        return (
          <Link key={layer} className="rate" href={addressOfTraces(`${state} layer:${layer} since:${hours}h`)}>
            <div>{layer}</div>
            <div className="number">
              <StateMark state={rate.state} text={percent(rate.rate)} />{" "}
              <small className="dim">{rate.low === null ? "" : `${percent(rate.low)} to ${percent(rate.high)}`}</small>
            </div>
            <Interval low={rate.low} high={rate.high} n={rate.judged} />
            <div className="dim point">{pointed[layer] ?? rate.words}</div>
            {pair ? <div className="dim"><Earlier pair={pair} window={nameOfWindow(hours)} /></div> : null}
            <RateBar rate={rate} />
            <RateChart layer={layer} overview={overview} top={top} point={(text) => point({ [layer]: text })} />
            <StackedBars label={`${layer}: failed, open and passed verdicts over time`} bars={bars} />
          </Link>
        );
      })}
    </div>
  );
}

/** What changed since the window before; in words where one of both has no rate. */
function Earlier({ pair, window }: { pair: Schema["Pair"]; window: string }) {
  if (!pair.before.judged) return <>the {window} before has no verdict</>;
  if (!pair.after.judged) return <>this {window} has no verdict; the one before: {pair.before.words}</>;
  return <><Change pair={pair} /> {points(pair.difference)} to the {window} before</>;
}

function Heat({ cohorts, hours }: { cohorts: Schema["Cohorts"]; hours: string }) {
  const worst = (layers: Schema["CohortRates"]["layers"]) => Math.max(...Object.values(layers).map((rate) => rate.rate ?? 0));
  const values = [...cohorts.values].sort((a, b) => worst(b.layers) - worst(a.layers));
  const most = Math.max(0.01, ...values.slice(0, 1).map((each) => worst(each.layers)));
  return (
    <DataTable
      label="Cohorts"
      rows={values}
      empty="Nothing was judged in this window."
      columns={[
        [cohorts.dimension.replace("_", " "), (each) => each.value || "(none given)"],
        ...LAYERS.map((layer): Column<Schema["CohortRates"]> => [
          layer,
          ({ layers, value }) => <LayerCell layer={layer} rate={layers[layer]} most={most} among={`${pair(cohorts.dimension, value)} since:${hours}h`} />,
          "heat",
        ]),
      ]}
    />
  );
}

interface LayerCellParts {
  layer: Layer;
  rate: Schema["Rate"] | undefined;
  /** The highest rate of the table, whose cell is the warmest. */
  most: number;
  /** The query of the traces that are counted. */
  among: string;
}

/** The rate of a layer among some traces; what fails and what is open lead to them. */
function LayerCell({ layer, rate, most, among }: LayerCellParts) {
  if (!rate) return <StateMark state="skipped" text="" />;
  const runsWith = (word: string) => addressOfTraces(`${word} layer:${layer} ${among}`);
  return (
    <span title={between(rate.low, rate.high)}>
      {rate.failed ? <i className="warmth" style={{ opacity: String(0.05 + 0.2 * ((rate.rate ?? 0) / most)) }} /> : null}
      <RateMark rate={rate} href={rate.failed ? runsWith("label:fail") : undefined} />
      <span className="dim"> n {rate.judged}</span>
      {rate.open ? <div><StateMark state="open" text={`${rate.open} open`} href={runsWith("state:open")} /></div> : null}
    </span>
  );
}
