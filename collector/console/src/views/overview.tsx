// Is anything wrong now? Fail rates with their intervals, over time, and by cohort.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { LAYERS, type Layer, type Schema } from "../api";
import { ago, Cli, Grid, Head, Interval, LayerCells, nameOfWindow, percent, Plain, Shown, Trend, useAnswer, useHours } from "../parts";
import { go, location } from "../router";
import { WaitForFirst } from "./settings";

const DIMENSIONS = ["prompt_version", "release", "model", "agent", "task", "executor"];

export function Overview() {
  const hours = useHours("24");
  const by = location.value.searchParams.get("by") ?? "prompt_version";
  const overview = useAnswer<Schema["Overview"]>("overview", { hours });
  const cohorts = useAnswer<Schema["Cohorts"]>(`cohorts/${encodeURIComponent(by)}`, { hours });
  const failures = useAnswer<Schema["FailureList"]>("failures", { hours, limit: "6" });
  const alerts = useAnswer<Schema["AlertList"]>("alerts");
  const newest = useAnswer<Schema["TraceList"]>("traces", { limit: "1" });
  const health = useAnswer<Schema["Health"]>("health");
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
      <Head title={`Fail rates, last ${nameOfWindow(hours)}`} hours={hours} />
      <Shown loaded={overview}>
        {(found) => (
          <>
            <Rates layers={found.layers} hours={hours} />
            <Timeline overview={found} />
          </>
        )}
      </Shown>
      <div class="columns">
        <section>
          <h2>What broke, by runs</h2>
          <Shown loaded={failures}>{(found) => <Broken clusters={found.failures} hours={hours} />}</Shown>
          <h2 class="below">
            Which cohort differs, by{" "}
            <select aria-label="Dimension" value={by} onChange={(event) => go(`/?${new URLSearchParams({ hours, by: event.currentTarget.value })}`)}>
              {DIMENSIONS.map((name) => (
                <option value={name}>{name.replace("_", " ")}</option>
              ))}
            </select>
          </h2>
          <Shown loaded={cohorts}>{(found) => <Heat cohorts={found} hours={hours} />}</Shown>
        </section>
        <section>
          <h2>Firing</h2>
          <Shown loaded={alerts}>{(found) => <Firing alerts={found.alerts} rules={found.rules.length} />}</Shown>
          <h2 class="below">Not judged</h2>
          <Shown loaded={overview}>{(found) => <NotJudged overview={found} />}</Shown>
          <h2 class="below">Health</h2>
          <Shown loaded={health}>{(found) => <Numbers readings={found.readings} newest={newest.value?.traces[0]} />}</Shown>
        </section>
      </div>
      <Cli line={`spanproof traces --failing --since ${hours}h`} />
    </>
  );
}

function Broken({ clusters, hours }: { clusters: Schema["FailureCluster"][]; hours: string }) {
  if (!clusters.length) return <p class="dim">Nothing failed in this window.</p>;
  return (
    <Grid label="What broke" heads={["cause", "trend", ["runs", "heat"], "last seen"]}>
      {clusters.map((each) => (
        <tr>
          <th scope="row">
            <a href={`/failures/${each.id}?hours=${hours}`}>
              <Plain text={each.name} />
            </a>{" "}
            {each.new_since ? (
              <span class="dim">
                new since <Plain text={each.new_since} />
              </span>
            ) : null}
          </th>
          <td>
            <Trend counts={each.trend} label={`${each.runs} runs in this window`} />
          </td>
          <td class="heat">{each.runs}</td>
          <td class="dim">{ago(each.last_seen_ns)}</td>
        </tr>
      ))}
    </Grid>
  );
}

function Firing({ alerts, rules }: { alerts: Schema["AlertRow"][]; rules: number }) {
  const firing = alerts.filter((each) => each.status === "firing");
  if (!firing.length) return <p class="dim">Nothing fires{rules ? `; ${rules} rules are watched` : "; no rule is configured"}.</p>;
  return (
    <ul class="behind">
      {firing.map((each) => (
        <li>
          <a href="/alerts" class="verdict fail">
            ✗ <Plain text={each.rule} />
          </a>{" "}
          <Plain text={each.summary} /> <span class="dim">since {ago(each.since_ns)}</span>
        </li>
      ))}
    </ul>
  );
}

const SHOWN_HEALTH = /spans_received|spans_accepted|backlog|dead_letter|queue|waiting|refused/;

function Numbers({ readings, newest }: { readings: Schema["Reading"][]; newest: Schema["TraceRow"] | undefined }) {
  const shown = readings.filter((each) => SHOWN_HEALTH.test(each.name)).slice(0, 8);
  return (
    <>
      <p>{newest ? `The newest trace began ${ago(newest.start_ns)}.` : ""}</p>
      {shown.length ? (
        <dl class="facts">
          {shown.map((each) => (
            <>
              <dt title={each.meaning}>{each.name.replace(/^spanproof_/, "").replaceAll("_", " ")}</dt>
              <dd>{each.value.toLocaleString("en")}</dd>
            </>
          ))}
        </dl>
      ) : (
        <p class="dim">This process collects nothing; it reads a store.</p>
      )}
    </>
  );
}

function Rates({ layers, hours }: { layers: Schema["Overview"]["layers"]; hours: string }) {
  return (
    <div class="rates">
      {LAYERS.map((layer) => {
        const rate = layers[layer]!;
        const judged = rate.passed + rate.failed;
        const query = encodeURIComponent(`label:fail layer:${layer} since:${hours}h`);
        return (
          <a class="rate" href={`/traces?q=${query}`} key={layer}>
            <div>{layer}</div>
            <div class={`number verdict ${rate.failed ? "fail" : judged ? "pass" : "skipped"}`}>{percent(rate.rate)}</div>
            <Interval low={rate.low} high={rate.high} n={judged} />
            <div class="dim">
              {rate.failed} of {judged} judged
              {rate.low === null ? "" : `, 95 % ${percent(rate.low)} to ${percent(rate.high)}`}
            </div>
          </a>
        );
      })}
    </div>
  );
}

function Timeline({ overview }: { overview: Schema["Overview"] }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const starts: number[] = [];
    const first = Math.floor(overview.start_ns / overview.bucket_ns) * overview.bucket_ns;
    for (let at = first; at < overview.end_ns; at += overview.bucket_ns) starts.push(at);
    const rates = (layer: Layer) => {
      const known = new Map(overview.timeline.filter((each) => each.layer === layer).map((each) => [each.start_ns, each.rate.rate]));
      return starts.map((at) => {
        const share = [...known].find(([start]) => Math.abs(start - at) < overview.bucket_ns / 2)?.[1];
        return share == null ? null : share * 100;
      });
    };
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("color") || "#888";
    const axis = { stroke: ink, grid: { stroke: "rgba(128,128,128,.25)", width: 1 }, font: "12px system-ui" };
    const dashes = [[], [6, 3], [2, 2], [10, 3, 2, 3], [1, 4]];
    const plot = new uPlot(
      {
        width: element.clientWidth - 16,
        height: 200,
        scales: { y: { range: (_self, _low, high) => [0, Math.max(10, high || 0)] } },
        axes: [axis, { ...axis, values: (_self, ticks) => ticks.map((tick) => `${tick} %`) }],
        series: [
          {},
          ...LAYERS.map((layer, index) => ({
            label: layer,
            stroke: ink,
            dash: dashes[index],
            width: 1.5,
            points: { show: true, size: 5 },
            value: (_self: uPlot, value: number | null) => (value == null ? "–" : `${value.toFixed(1)} %`),
          })),
        ],
      },
      [starts.map((at) => at / 1e9), ...LAYERS.map(rates)],
      element,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth - 16, height: 200 }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [overview]);
  return <div class="chart" ref={box} role="img" aria-label="Fail rate of each layer over time; the numbers are above" />;
}

function Heat({ cohorts, hours }: { cohorts: Schema["Cohorts"]; hours: string }) {
  if (!cohorts.values.length) return <p class="dim">Nothing was judged in this window.</p>;
  const worst = (layers: Schema["CohortRates"]["layers"]) => Math.max(...Object.values(layers).map((rate) => rate.rate ?? 0));
  const values = [...cohorts.values].sort((a, b) => worst(b.layers) - worst(a.layers));
  const most = Math.max(0.01, worst(values[0]!.layers));
  return (
    <Grid label="Cohorts" heads={[cohorts.dimension.replace("_", " "), ...LAYERS.map((layer): [string, string] => [layer, "heat"])]}>
      {values.map((each) => (
        <tr key={each.value}>
          <th scope="row">
            <Plain text={each.value || "(none given)"} />
          </th>
          <LayerCells layers={each.layers} dimension={cohorts.dimension} value={each.value} hours={hours} most={most} />
        </tr>
      ))}
    </Grid>
  );
}

function NotJudged({ overview }: { overview: Schema["Overview"] }) {
  const reasons = overview.not_judged;
  if (!reasons.length) return <p class="dim">Every layer of every run was judged.</p>;
  const rates = Object.values(overview.layers);
  const all = rates.reduce((sum, rate) => sum + rate.passed + rate.failed + rate.errored + rate.skipped + rate.undecided, 0);
  return (
    <Grid label="Not judged" heads={["why", ["share", "heat"]]}>
      {reasons.map((each) => (
        <tr>
          <td>
            <span class={`verdict ${each.outcome}`}>{each.outcome}</span> <Plain text={each.reason} />
          </td>
          <td class="heat">
            {percent(all ? each.times / all : null)} <span class="dim">{each.times}</span>
          </td>
        </tr>
      ))}
    </Grid>
  );
}
