// Did it get worse? Two windows, or two values of a dimension: rates with their intervals and the difference with its own.
import type { FormEvent } from "react";
import { Button, Table, TextInput } from "@mantine/core";
import { LAYERS, type Schema } from "../api";
import { capitalise, Cli, DimensionSelect, Empty, Grid, Head, Interval, nameOfWindow, percent, Plain, points, Shown, useAnswer, useHours } from "../parts";
import { quoted } from "../query";
import { addressWith, go, here } from "../location";
import { describeRate, RateBar, RateMark, StateMark } from "../state";
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
      <Grid label="Layers" heads={["layer", ["before", "heat"], ["after", "heat"], ["difference", "heat"], "change"]}>
        {LAYERS.map((layer) => {
          const pair = page.layers[layer]!;
          return (
            <Table.Tr>
              <Table.Th scope="row">{layer}</Table.Th>
              <Side rate={pair.before} name={page.before} />
              <Side rate={pair.after} name={page.after} />
              <Table.Td className="heat">
                {points(pair.difference)}
                <div className="dim">{pair.low === null ? "" : `${points(pair.low)} to ${points(pair.high)}`}</div>
                {pair.before.open || pair.after.open ? <div className="dim">open {points(pair.open_difference)}</div> : null}
              </Table.Td>
              <Table.Td><Change pair={pair} /></Table.Td>
            </Table.Tr>
          );
        })}
      </Grid>
      <h2 className="below">By {page.by.replace("_", " ")}, flipped first</h2>
      {page.values.length ? (
        <Grid label="Values" heads={[page.by.replace("_", " "), ...LAYERS.map((layer): [string, string] => [layer, "heat"])]}>
          {page.values.map((each, index) => (
            <Table.Tr key={index}>
              <Table.Th scope="row"><Plain text={each.value || "(none given)"} /></Table.Th>
              {LAYERS.map((layer) => {
                const pair = each.layers[layer];
                return (
                  <Table.Td className="heat">
                    {pair ? (
                      <>
                        {percent(pair.before.rate)} → {percent(pair.after.rate)} <Change pair={pair} short />
                        {pair.before.open || pair.after.open ? (
                          <div className="dim">
                            {pair.before.open} → {pair.after.open} open
                          </div>
                        ) : null}
                      </>
                    ) : (
                      "–"
                    )}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </Grid>
      ) : <p className="dim">Nothing was judged on either side.</p>}
    </>
  );
}

function Side({ rate, name }: { rate: Schema["Rate"]; name: string }) {
  return (
    <Table.Td className="heat" title={name}>
      <RateMark rate={rate} /> <span className="dim">{describeRate(rate)}</span>
      <Interval low={rate.low} high={rate.high} n={rate.judged} />
      <RateBar rate={rate} />
    </Table.Td>
  );
}

const CHANGES: Record<Pair["change"], string> = { worse: "▲", better: "▼", unclear: "=" };

/** How the fails changed, and what is open; better is green only where nothing is open now. */
function Change({ pair, short }: { pair: Pair; short?: boolean }) {
  if (!pair.before.judged || !pair.after.judged) return <span className="dim">{short ? "" : "no rate to compare with"}</span>;
  const colour = { worse: "fail", better: pair.after.open ? "open" : "pass", unclear: "skipped" }[pair.change];
  return (
    <>
      <span className={`verdict ${colour}`}>
        {CHANGES[pair.change]} {short && pair.change === "unclear" ? <span className="skip">unclear</span> : pair.change}
      </span>
      {pair.open_change === "unclear" ? null : (
        <div><StateMark state="open" text={pair.open_change === "worse" ? "more open" : "less open"} /></div>
      )}
    </>
  );
}
