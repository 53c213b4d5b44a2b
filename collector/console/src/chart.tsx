// A fail rate over time: the rate as a line, its 95 % interval as a band, new releases as ticks.
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import type { Layer, Schema } from "./api";
import { formatLocalTime, percent } from "./parts";

type Overview = Schema["Overview"];
type Rate = Schema["Rate"];

const HEIGHT = 104;
// A label nearer to the left end would cover those of the other axis, one nearer to the right end would be cut.
const HALF_TICK_PX = 16;
const DAY_S = 86_400;
const MIN_TOP = 10;

/** Return the highest value of the axis, in percent: all layers share it, so that they can be compared. */
export function findTop(rates: Overview["rates"]): number {
  const shares = Object.values(rates).flat().map((rate) => rate?.rate ?? 0);
  return Math.min(100, Math.max(MIN_TOP, 125 * Math.max(...shares)));
}

interface ChartParts {
  layer: Layer;
  overview: Overview;
  top: number;
  /** Called with what is under the pointer, or null. */
  point: (text: string | null) => void;
}

export function RateChart({ layer, overview, top, point }: ChartParts) {
  const box = useRef<HTMLDivElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  // A canvas keeps the colours it was drawn with.
  const scheme = useComputedColorScheme("light");
  useEffect(() => {
    let remove: (() => void) | null = null;
    let isGone = false;
    // The numbers are shown first: the charts take as long as all else of the page.
    void import("uplot").then(({ default: Plot }) => {
      if (isGone) return;
      remove = draw(Plot, box.current!, { layer, overview, top, point });
      setDrawn(true);
    });
    return () => {
      isGone = true;
      remove?.();
    };
  }, [layer, overview, scheme]);
  const { length } = overview.releases;
  const ticks = length ? `, with ${length} new releases` : "";
  return <div className="chart" ref={box} role="img" aria-busy={isDrawn ? undefined : true} aria-label={`${layer}: fail rate over time with its interval${ticks}`} />;
}

/** Draw a chart within an element; returns what removes it. */
function draw(Plot: typeof uPlot, element: HTMLDivElement, { layer, overview, top, point }: ChartParts): () => void {
  const ink = () => getComputedStyle(element).color;
  const pale = () => ink().replace("rgb(", "rgba(").replace(")", ", .18)");
  const starts = overview.starts_ns.map((at) => at / 1e9);
  const spanned = starts.at(-1)! - starts[0]!;
  const rates = overview.rates[layer]!;
  const column = (name: "low" | "high" | "rate") => rates.map((rate) => (rate?.[name] == null ? null : rate[name] * 100));
  const axis = { stroke: ink, font: "11px Inter Variable, system-ui", ticks: { show: false }, grid: { stroke: pale, width: 1 } };
  const line = { points: { show: false }, stroke: "transparent" };
  const plot = new Plot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      padding: [14, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: { y: { range: [0, top] } },
      axes: [
        { ...axis, size: 20, gap: 2, space: 64, grid: { show: false }, values: (plot, splits) => splits.map((at) => (isInside(plot, at) ? formatTick(at, spanned) : "")) },
        { ...axis, size: 38, gap: 4, space: 28, values: (_plot, splits) => splits.map((split) => `${split} %`) },
      ],
      series: [{}, line, line, { stroke: ink, width: 1.5, points: { show: rates.length < 40, size: 4, fill: ink } }],
      bands: [{ series: [2, 1], fill: pale as unknown as string }],
      hooks: {
        draw: [(drawn) => drawReleases(drawn, overview.releases, ink())],
        setCursor: [
          ({ cursor: { idx } }) => {
            const rate = idx == null ? null : rates[idx];
            point(rate ? `${formatTick(starts[idx!]!, 0)}: ${describe(rate)}` : null);
          },
        ],
      },
    },
    [starts, column("low"), column("high"), column("rate")],
    element,
  );
  const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
  resized.observe(element);
  return () => {
    resized.disconnect();
    plot.destroy();
  };
}

function describe(rate: Rate): string {
  const interval = rate.low === null ? "" : ` (${percent(rate.low)} to ${percent(rate.high)})`;
  return `${percent(rate.rate)}${interval}, ${rate.words}`;
}

function isInside(plot: uPlot, at: number): boolean {
  const x = plot.valToPos(at, "x");
  return x >= HALF_TICK_PX && x <= plot.over.clientWidth - HALF_TICK_PX;
}

function drawReleases(plot: uPlot, releases: Overview["releases"], ink: string): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  let free = -Infinity;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineWidth = scale;
  ctx.setLineDash([2 * scale, 3 * scale]);
  ctx.font = `${10 * scale}px Inter Variable, system-ui`;
  ctx.textAlign = "center";
  for (const each of releases) {
    const x = Math.round(plot.valToPos(each.first_ns / 1e9, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const name = each.release.length > 10 ? `${each.release.slice(0, 9)}…` : each.release;
    const half = ctx.measureText(name).width / 2;
    const middle = Math.min(Math.max(x, half), plot.ctx.canvas.width - half);
    if (middle - half < free) continue;
    ctx.fillText(name, middle, bbox.top - 3 * scale);
    free = middle + half + 4 * scale;
  }
  ctx.restore();
}

function formatTick(seconds: number, spanned: number): string {
  const [day, time] = formatLocalTime(seconds * 1e9).slice(0, 11).split(" ");
  return spanned > 2 * DAY_S ? day! : time!;
}
