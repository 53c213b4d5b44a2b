// Did it get worse? Two windows, or two values of a dimension: rates with their intervals and the difference with its own.
import { Button, TextInput } from "@mantine/core";
import { LAYERS, type Schema } from "../api";
import { Cli, DataTable, DimensionSelect, Empty, Form, Head, Interval, nameOfWindow, percent, Plain, points, Shown, useAnswer, useHours, type Column } from "../parts";
import { quoted } from "../query";
import { addressWith, getParameter, go } from "../location";
import { Change, RateBar, RateMark } from "../state";
import { ChooseRuns } from "./runs";

const DIMENSIONS = ["release", "prompt_version", "model", "agent", "task", "executor", "service"];
type Pair = Schema["Pair"];

export function Compare() {
  const hours = useHours();
  const dimension = getParameter("dimension") ?? "window";
  const before = getParameter("before") ?? "";
  const after = getParameter("after") ?? "";
  const by = getParameter("by") ?? "task";
  const ready = dimension === "window" || (before && after);
  const found = useAnswer<Schema["Comparison"]>(ready ? "compare" : "", { dimension, before, after, by, hours });
  const values = useAnswer<Schema["Values"]>(dimension === "window" ? "" : `dimensions/${encodeURIComponent(dimension)}`, { hours });
  return (
    <>
      <Head title="Did it get worse?" />
      <Form className="fields" submit={(sides) => go(addressWith(sides))} key={dimension}>
        <span>
          compare <DimensionSelect label="Compare" names={["window", ...DIMENSIONS]} value={dimension} choose={(name) => go(addressWith({ dimension: name, before: null, after: null }))} />
        </span>
        {dimension === "window" ? <span className="dim">the last {nameOfWindow(hours)} with the one before it</span> : (
          <>
            <TextInput label="before" name="before" list="sides" defaultValue={before} required />
            <TextInput label="after" name="after" list="sides" defaultValue={after} required />
            <datalist id="sides">{values.value?.values.map((value) => <option key={value} value={value} />)}</datalist>
            <Button type="submit">Compare</Button>
          </>
        )}
        <span>
          broken down by <DimensionSelect label="Broken down by" names={DIMENSIONS} value={by} choose={(name) => go(addressWith({ by: name }))} />
        </span>
      </Form>
      {ready ? <Shown loaded={found}>{(page) => <Both page={page} />}</Shown> : (
        <Empty title={`Choose two values of ${dimension.replace("_", " ")}`}>
          <p className="dim">{values.value?.values.length ? <Plain text={`In this window: ${values.value.values.join(", ")}`} /> : "There are none in this window."}</p>
        </Empty>
      )}
      <h2 className="below">One run beside another</h2>
      <ChooseRuns />
      <Cli line={`spanproof query groundedness.score ${dimension === "window" ? "" : `--by ${quoted(dimension)} `}--since ${hours}h${dimension === "window" ? " --compare" : ""}`} />
    </>
  );
}

function Both({ page }: { page: Schema["Comparison"] }) {
  if (!page.sentence && !page.values.length) return <Empty title="Nothing was judged on either side" />;
  return (
    <>
      <p className="sentence">{page.sentence}</p>
      <DataTable
        label="Layers"
        rows={LAYERS.map((layer) => ({ layer, pair: page.layers[layer]! }))}
        columns={[
          ["layer", ({ layer }) => layer],
          [<span title={page.before}>before</span>, ({ pair }) => <Side rate={pair.before} />, "heat"],
          [<span title={page.after}>after</span>, ({ pair }) => <Side rate={pair.after} />, "heat"],
          ["difference", ({ pair }) => (
            <>
              {points(pair.difference)}
              <div className="dim">{pair.low === null ? "" : `${points(pair.low)} to ${points(pair.high)}`}</div>
              {pair.before.open || pair.after.open ? <div className="dim">open {points(pair.open_difference)}</div> : null}
            </>
          ), "heat"],
          ["change", ({ pair }) => <Change pair={pair} />],
        ]}
      />
      <h2 className="below">By {page.by.replace("_", " ")}, flipped first</h2>
      <DataTable
        label="Values"
        rows={page.values}
        empty="Nothing was judged on either side."
        columns={[
          [page.by.replace("_", " "), (each) => each.value || "(none given)"],
          ...LAYERS.map((layer): Column<Schema["Comparison"]["values"][number]> => [layer, (each) => <PairCell pair={each.layers[layer]} />, "heat"]),
        ]}
      />
    </>
  );
}

function PairCell({ pair }: { pair: Pair | undefined }) {
  if (!pair) return <>–</>;
  return (
    <>
      {percent(pair.before.rate)} → {percent(pair.after.rate)} <Change pair={pair} short />
      {pair.before.open || pair.after.open ? <div className="dim">{pair.before.open} → {pair.after.open} open</div> : null}
    </>
  );
}

function Side({ rate }: { rate: Schema["Rate"] }) {
  return (
    <>
      <RateMark rate={rate} /> <span className="dim">{rate.words}</span>
      <Interval low={rate.low} high={rate.high} n={rate.judged} />
      <RateBar rate={rate} />
    </>
  );
}
