// Is anything wrong now? Fail rates with their intervals, over time, and by cohort.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { LAYERS, type Layer, type Schema } from "../api";
import { Cli, Plain, Shown, useAnswer } from "../parts";
import { pair } from "../query";
import { go, location } from "../router";

const WINDOWS: [string, string][] = [["1", "hour"], ["24", "day"], ["168", "week"], ["720", "month"]];
const DIMENSIONS = ["prompt_version", "release", "model", "agent", "task", "executor"];
const FEW = 30;

export function Overview() {
  const parameters = location.value.searchParams;
  const hours = parameters.get("hours") ?? "24";
  const by = parameters.get("by") ?? "prompt_version";
  const overview = useAnswer<Schema["Overview"]>("overview", { hours });
  const cohorts = useAnswer<Schema["Cohorts"]>(`cohorts/${encodeURIComponent(by)}`, { hours });
  const to = (change: Record<string, string>) => `/?${new URLSearchParams({ hours, by, ...change })}`;
  return (
    <>
      <div class="query">
        <h1>Fail rates, last {WINDOWS.find(([value]) => value === hours)?.[1] ?? `${hours} hours`}</h1>
        <span class="end" role="group" aria-label="Window">
          {WINDOWS.map(([value, name]) => (
            <>
              <a href={to({ hours: value })} aria-current={value === hours ? "true" : undefined}>
                {name}
              </a>{" "}
            </>
          ))}
        </span>
      </div>
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
          <h2>
            Which cohort differs, by{" "}
            <select aria-label="Dimension" value={by} onChange={(event) => go(to({ by: event.currentTarget.value }))}>
              {DIMENSIONS.map((name) => (
                <option value={name}>{name.replace("_", " ")}</option>
              ))}
            </select>
          </h2>
          <Shown loaded={cohorts}>{(found) => <Heat cohorts={found} hours={hours} />}</Shown>
        </section>
        <section>
          <h2>Not judged</h2>
          <Shown loaded={overview}>{(found) => <NotJudged reasons={found.not_judged} />}</Shown>
        </section>
      </div>
      <Cli line={`spanproof traces --failing --since ${hours}h`} />
    </>
  );
}

function percent(share: number | null): string {
  return share === null ? "–" : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
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
            <Interval rate={rate} />
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

function Interval({ rate }: { rate: Schema["Rate"] }) {
  if (rate.low === null || rate.high === null) return <div class="interval" />;
  const few = rate.passed + rate.failed < FEW;
  const style = { left: `${rate.low * 100}%`, width: `${Math.max(0.5, (rate.high - rate.low) * 100)}%` };
  return (
    <div class={`interval ${few ? "few" : ""}`} title={few ? `fewer than ${FEW} verdicts` : undefined}>
      <i style={style} />
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
    const resize = () => plot.setSize({ width: element.clientWidth - 16, height: 200 });
    addEventListener("resize", resize);
    return () => {
      removeEventListener("resize", resize);
      plot.destroy();
    };
  }, [overview]);
  return <div class="chart" ref={box} role="img" aria-label="Fail rate of each layer over time; the numbers are above" />;
}

function Heat({ cohorts, hours }: { cohorts: Schema["Cohorts"]; hours: string }) {
  if (!cohorts.values.length) return <p class="dim">Nothing was judged in this window.</p>;
  return (
    <div class="table">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">{cohorts.dimension.replace("_", " ")}</th>
            {LAYERS.map((layer) => (
              <th scope="col" class="heat">
                {layer}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.values.map((each) => (
            <tr key={each.value}>
              <th scope="row">
                <Plain text={each.value || "(not said)"} />
              </th>
              {LAYERS.map((layer) => {
                const rate = each.layers[layer];
                const query = [`label:fail layer:${layer}`, pair(cohorts.dimension, each.value), `since:${hours}h`].join(" ");
                return (
                  <td class="heat">
                    {rate?.failed ? (
                      <a class="verdict fail" href={`/traces?q=${encodeURIComponent(query)}`}>
                        {percent(rate.rate)}
                      </a>
                    ) : (
                      <span class="verdict pass">{percent(rate?.rate ?? null)}</span>
                    )}
                    <span class="dim"> n {rate ? rate.passed + rate.failed : 0}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NotJudged({ reasons }: { reasons: Schema["Reason"][] }) {
  if (!reasons.length) return <p class="dim">Every layer of every run was judged.</p>;
  return (
    <table class="grid">
      <thead>
        <tr>
          <th scope="col">why</th>
          <th scope="col" class="heat">
            times
          </th>
        </tr>
      </thead>
      <tbody>
        {reasons.map((each) => (
          <tr>
            <td>
              <span class={`verdict ${each.outcome}`}>{each.outcome}</span> <Plain text={each.reason} />
            </td>
            <td class="heat">{each.times}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
