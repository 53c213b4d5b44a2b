// Did it get worse? Two windows, or two values of a dimension: rates with their intervals and the difference with its own.
import type { FormEvent } from "react";
import { Button, TextInput } from "@mantine/core";
import { LAYERS, type Schema } from "../api";
import { capitalise, Cli, DataTable, DimensionSelect, Empty, Head, Interval, nameOfWindow, percent, Plain, points, Shown, useAnswer, useHours, type Column } from "../parts";
import { quoted } from "../query";
import { addressWith, go, here } from "../location";
import { Change, describeRate, RateBar, RateMark } from "../state";
import { ChooseRuns } from "./runs";

const DIMENSIONS = ["release", "prompt_version", "model", "agent", "task", "executor", "service"];
type Pair = Schema["Pair"];

export function Compare() {
  const hours = useHours();
  const given = here().searchParams;
  const dimension = given.get("dimension") ?? "window";
  const before = given.get("before") ?? "";
  const after = given.get("after") ?? "";
  const by = given.get("by") ?? "task";
  const ready = dimension === "window" || (before && after);
  const found = useAnswer<Schema["Comparison"]>(ready ? "compare" : "", { dimension, before, after, by, hours });
  const values = useAnswer<Schema["Values"]>(dimension === "window" ? "" : `dimensions/${encodeURIComponent(dimension)}`, { hours });
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    go(addressWith({ before: String(form.get("before")), after: String(form.get("after")) }));
  };
  return (
    <>
      <Head title="Did it get worse?" />
      <form className="fields" onSubmit={choose} key={dimension}>
        <span>
          compare{" "}
          <DimensionSelect
            label="Compare"
            names={["window", ...DIMENSIONS]}
            value={dimension}
            choose={(name) => go(addressWith({ dimension: name, before: null, after: null }))}
          />
        </span>
        {dimension === "window" ? <span className="dim">the last {nameOfWindow(hours)} with the one before it</span> : (
          <>
            <TextInput label="before" name="before" list="sides" defaultValue={before} required withAsterisk={false} />
            <TextInput label="after" name="after" list="sides" defaultValue={after} required withAsterisk={false} />
            <datalist id="sides">{values.value?.values.map((value) => <option key={value} value={value} />)}</datalist>
            <Button type="submit">Compare</Button>
          </>
        )}
        <span>
          broken down by <DimensionSelect label="Broken down by" names={DIMENSIONS} value={by} choose={(name) => go(addressWith({ by: name }))} />
        </span>
      </form>
      {ready ? <Shown loaded={found}>{(page) => <Both page={page} />}</Shown> : (
        <Empty title={`Choose two values of ${dimension.replace("_", " ")}`}>
          <p className="dim">{values.value?.values.length ? <Plain text={`In this window: ${values.value.values.join(", ")}`} /> : "There are none in this window."}</p>
        </Empty>
      )}
      <h2 className="below">One run beside another</h2>
      <ChooseRuns />
      <Cli
        line={
          dimension === "window"
            ? `spanproof query groundedness.score --since ${hours}h --compare`
            : `spanproof query groundedness.score --by ${quoted(dimension)} --since ${hours}h`
        }
      />
    </>
  );
}

function Both({ page }: { page: Schema["Comparison"] }) {
  const worse = LAYERS.filter((layer) => page.layers[layer]!.change === "worse");
  const better = LAYERS.filter((layer) => page.layers[layer]!.change === "better");
  const opened = LAYERS.filter((layer) => page.layers[layer]!.open_change === "worse");
  const settled = LAYERS.filter((layer) => page.layers[layer]!.open_change === "better");
  const sentence = [
    worse.length ? `${worse.join(" and ")} got worse` : "",
    better.length ? `${better.join(" and ")} got better` : "",
    opened.length ? `${opened.join(" and ")} ${opened.length === 1 ? "has" : "have"} more open` : "",
    settled.length ? `${settled.join(" and ")} ${settled.length === 1 ? "has" : "have"} less open` : "",
  ].filter(Boolean);
  const isEmpty = LAYERS.every((layer) => [page.layers[layer]!.before, page.layers[layer]!.after].every((rate) => !rate.judged && !rate.open));
  if (isEmpty && !page.values.length) {
    return <Empty title="Nothing was judged on either side" />;
  }
  const isComparable = LAYERS.some((layer) => page.layers[layer]!.before.judged && page.layers[layer]!.after.judged);
  const unchanged = isComparable ? "No layer changed beyond its interval." : "Only one side has verdicts: there is nothing to compare it with.";
  return (
    <>
      <p className="sentence">{sentence.length ? capitalise(`${sentence.join("; ")}.`) : unchanged}</p>
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
      {page.values.length ? (
        <DataTable
          label="Values"
          rows={page.values}
          columns={[
            [page.by.replace("_", " "), (each) => <Plain text={each.value || "(none given)"} />],
            ...LAYERS.map((layer): Column<Schema["Comparison"]["values"][number]> => [layer, (each) => <PairCell pair={each.layers[layer]} />, "heat"]),
          ]}
        />
      ) : <p className="dim">Nothing was judged on either side.</p>}
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
      <RateMark rate={rate} /> <span className="dim">{describeRate(rate)}</span>
      <Interval low={rate.low} high={rate.high} n={rate.judged} />
      <RateBar rate={rate} />
    </>
  );
}
