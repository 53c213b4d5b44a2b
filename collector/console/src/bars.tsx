// Bars over time: how many failed, are open and passed, and how long traces took.
import type { Schema } from "./api";
import { formatDuration, formatLocalTime, nameOfWindow, useSteadyAnswer } from "./parts";
import type { Parameters } from "./query";
import { Counts, describeShares, listShares } from "./state";

type Point = Schema["UsagePoint"];

export interface Bar {
  title?: string;
  /** Heights with the classes that colour them, from above. */
  parts: [string, number][];
}

/** Bars of which each is made of parts; all are drawn on the scale of the highest. */
export function StackedBars({ bars, label }: { bars: Bar[]; label: string }) {
  const most = Math.max(1e-9, ...bars.map((bar) => bar.parts.reduce((sum, [, height]) => sum + height, 0)));
  return (
    <div className="stacked" role="img" aria-label={label}>
      {bars.map((bar, index) => (
        <span key={index} title={bar.title}>
          {bar.parts.map(([name, height]) => (height ? <i key={name} className={name} style={{ height: `${Math.max(4, (height / most) * 100)}%` }} /> : null))}
        </span>
      ))}
    </div>
  );
}

const USUAL_HOURS = "168";
const HOUR_NS = 3.6e12;

/** What the traces of a list came to over time, and how long they took; the list's filters hold here, too. */
export function TraceCharts({ parameters: { order: _order, ...chosen } }: { parameters: Parameters }) {
  const found = useSteadyAnswer<Schema["Usage"]>("usage", { hours: USUAL_HOURS, ...chosen, by_model: "false" });
  if (!found?.points.length) return null;
  const first = Math.floor(found.start_ns / found.bucket_ns);
  const length = Math.floor(found.end_ns / found.bucket_ns) - first + 1;
  const stretches: (Point | undefined)[] = Array.from({ length });
  for (const point of found.points) stretches[Math.floor(point.start_ns / found.bucket_ns) - first] = point;
  const latest = found.points.at(-1)!;
  const sum = (read: (point: Point) => number) => found.points.reduce((all, point) => all + read(point), 0);
  const seconds = (value: number) => formatDuration(value * 1e9);
  const hours = String(Number(((found.end_ns - found.start_ns) / HOUR_NS).toFixed(2)));
  const at = (point: Point) => formatLocalTime(point.start_ns).slice(0, -3);
  const states = stretches.map((point): Bar => ({
    title: point && `${at(point)}: ${describeShares(listShares(point))}`,
    parts: point ? listShares(point) : [],
  }));
  const latencies = stretches.map((point): Bar => ({
    title: point && `${at(point)}: p50 ${seconds(point.p50_s)}, p95 ${seconds(point.p95_s)}`,
    parts: point ? [["most", point.p95_s - point.p50_s], ["half", point.p50_s]] : [],
  }));
  return (
    <div className="charts">
      <section>
        <span className="dim">last {nameOfWindow(hours)}:</span>{" "}
        <Counts counts={{ fail: sum((point) => point.failed), errored: sum((point) => point.errored), open: sum((point) => point.open), pass: sum((point) => point.passed) }} />
        <StackedBars bars={states} label="Failed, open and passed traces over time" />
      </section>
      <section>
        <span className="dim">latest latency:</span> p50 {seconds(latest.p50_s)}, p95 {seconds(latest.p95_s)}
        <StackedBars bars={latencies} label="Latency over time, p50 and p95" />
      </section>
    </div>
  );
}
