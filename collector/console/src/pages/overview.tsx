// Is anything wrong now? Fail rates with their intervals, over time, and by cohort.
import { useMemo, useState } from "react";
import { LAYERS, type Layer, type Schema, type State } from "../api";
import { StackedBars } from "../bars";
import { RateChart, readTimes, type Times } from "../chart";
import { capitalise, Cli, ClusterLink, DataTable, DimensionSelect, formatDollars, formatDuration, Head, Interval, Items, Link, nameOfWindow, percent, Plain, points, Properties, Shown, Time, Trend, useAnswer, useHours, type Column } from "../parts";
import { addressWith, go, here } from "../location";
import { pair } from "../query";
import { Change, describeRate, isState, listShares, RateBar, RateMark, StateMark } from "../state";
import { WaitForFirst } from "./settings";

const DIMENSIONS = ["prompt_version", "release", "model", "agent", "task", "executor"];

export function Overview() {
  const hours = useHours();
  const by = here().searchParams.get("by") ?? "prompt_version";
  const isCompared = here().searchParams.get("compare") === "before";
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
    return (
      <>
        <Head title="Nothing to show yet" />
        <WaitForFirst />
      </>
    );
  }
  return (
    <>
      <Head {...(overview.value ? describeRates(overview.value, hours) : { title: `Fail rates, last ${nameOfWindow(hours)}` })} />
      <Shown loaded={overview}>{(found) => <Rates overview={found} hours={hours} earlier={earlier.value} />}</Shown>
      <div className="columns tables">
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

/** Return whether anything is wrong, as a person would say it, and the gravest state. */
function describeRates(overview: Schema["Overview"], hours: string): { title: string; state: State } {
  const window = `the last ${nameOfWindow(hours)}`;
  const rates = LAYERS.map((layer) => ({ layer, rate: overview.layers[layer]! }));
  const most = (read: (rate: Schema["Rate"]) => number) => [...rates].sort((a, b) => read(b.rate) - read(a.rate))[0]!;
  const worst = most((rate) => rate.rate ?? 0);
  if (worst.rate.failed) return { title: capitalise(`${worst.layer} fails most in ${window}: ${describeRate(worst.rate)}`), state: "fail" };
  const errored = most((rate) => rate.errored);
  const open = most((rate) => rate.open);
  const rest = [
    errored.rate.errored ? `${errored.rate.errored.toLocaleString("en")} errored on ${errored.layer}` : "",
    open.rate.open ? `${open.rate.open.toLocaleString("en")} are open on ${open.layer}` : "",
  ].filter(Boolean);
  if (rest.length) return { title: `No run failed in ${window}, and ${rest.join(" and ")}`, state: errored.rate.errored ? "errored" : "open" };
  const isJudged = rates.some(({ rate }) => rate.passed);
  return { title: `No run ${isJudged ? "failed" : "was judged"} in ${window}`, state: isJudged ? "pass" : "skipped" };
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
      <Properties rows={rows.map(([name, counts, words]) => [name, <>{counts.length ? <Trend counts={counts} label={`${name} over time`} /> : null} {words}</>])} />
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

function Numbers({ readings, newest }: { readings: Schema["Reading"][]; newest: Schema["TraceRow"] | undefined }) {
  const shown = SHOWN_HEALTH.flatMap((name) => readings.filter((each) => each.name === name));
  return (
    <>
      <p>{newest ? <>The newest trace began <Time ns={newest.start_ns} relative />.</> : null}</p>
      {shown.length ? (
        <Properties
          rows={shown.map((each) => [
            <span title={each.meaning}>{each.name.replace(/^spanproof_|_total$/g, "").replaceAll("_", " ")}</span>,
            each.value.toLocaleString("en"),
          ])}
        />
      ) : <p className="dim">This process collects nothing; it reads a store.</p>}
    </>
  );
}

function Sandboxes({ backends }: { backends: Schema["Backend"][] }) {
  const usable = backends.filter((each) => each.usable);
  return (
    <p>
      {usable.length ? (
        <>Code runs in {usable.map((each) => `${each.name} (${each.tier})`).join(", ")}:</>
      ) : <span className="verdict fail">✗ no sandbox can be used here</span>}{" "}
      <Link href="/settings">sandboxes</Link>
    </p>
  );
}

function Rates({ overview, hours, earlier }: { overview: Schema["Overview"]; hours: string; earlier: Schema["Comparison"] | null }) {
  const times = useMemo(() => readTimes(overview), [overview]);
  return (
    <div className="rates">
      {LAYERS.map((layer) => (
        <RateCard key={layer} layer={layer} rate={overview.layers[layer]!} times={times} releases={overview.releases} hours={hours} pair={earlier?.layers[layer]} />
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
  /** The rate beside that of the window before, where they are compared. */
  pair: Schema["Pair"] | undefined;
}

function RateCard({ layer, rate, times, releases, hours, pair }: RateCardParts) {
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
      {pair ? <div className="dim"><Earlier pair={pair} window={nameOfWindow(hours)} /></div> : null}
      <RateBar rate={rate} />
      <RateChart layer={layer} times={times} releases={releases} point={setPoint} />
      <StackedBars
        label={`${layer}: failed, open and passed verdicts over time`}
        bars={times.rates[layer].map((rate) => ({ title: rate ? describeRate(rate) : undefined, parts: rate ? listShares(rate) : [] }))}
      />
    </Link>
  );
}

/** What changed since the window before; in words where one of both has no rate. */
function Earlier({ pair, window }: { pair: Schema["Pair"]; window: string }) {
  if (!pair.before.judged) return <>the {window} before has no verdict</>;
  if (!pair.after.judged) return <>this {window} has no verdict; the one before: {describeRate(pair.before)}</>;
  return <><Change pair={pair} /> {points(pair.difference)} to the {window} before</>;
}

function Heat({ cohorts, hours }: { cohorts: Schema["Cohorts"]; hours: string }) {
  if (!cohorts.values.length) return <p className="dim">Nothing was judged in this window.</p>;
  const worst = (layers: Schema["CohortRates"]["layers"]) => Math.max(...Object.values(layers).map((rate) => rate.rate ?? 0));
  const values = [...cohorts.values].sort((a, b) => worst(b.layers) - worst(a.layers));
  const most = Math.max(0.01, worst(values[0]!.layers));
  return (
    <DataTable
      label="Cohorts"
      rows={values}
      columns={[
        [cohorts.dimension.replace("_", " "), (each) => <Plain text={each.value || "(none given)"} />],
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
  const runsWith = (word: string) => `/traces?q=${encodeURIComponent(`${word} layer:${layer} ${among}`)}`;
  return (
    <span title={rate.low == null ? undefined : `95 % interval ${percent(rate.low)} to ${percent(rate.high)}`}>
      {rate.failed ? <i className="warmth" style={{ opacity: String(0.05 + 0.2 * ((rate.rate ?? 0) / most)) }} /> : null}
      <RateMark rate={rate} href={rate.failed ? runsWith("label:fail") : undefined} />
      <span className="dim"> n {rate.judged}</span>
      {rate.open ? <div><StateMark state="open" text={`${rate.open} open`} href={runsWith("state:open")} /></div> : null}
    </span>
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
