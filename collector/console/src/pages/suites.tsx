// Is this safe to ship? Cases down, experiments across, reports of the gate, and an assertion tried on stored runs.
import { NativeSelect } from "@mantine/core";
import type { Schema } from "../api";
import { Cli, DataTable, Empty, FEW, formatDollars, formatDuration, Head, Interval, Link, pathOf, percent, Plain, points, Problems, Shown, Time, useAnswer, Verdict, type Column } from "../parts";
import { quoted } from "../query";
import { addressWith, getParameter, go } from "../location";
import { Counts, LayerMarks, ResultMark, StateMark } from "../state";
import type { PageParts } from "../root";
import { Case } from "./case";
import { TryAssertion } from "./gates";

export function Suites() {
  const suites = useAnswer<Schema["SuiteList"]>("suites");
  const gates = useAnswer<Schema["GateList"]>("gates");
  return (
    <>
      <Head title="Suites" />
      <Shown loaded={suites}>{(list) => <List list={list} />}</Shown>
      <h2 className="below">Reports of the gate</h2>
      <Shown loaded={gates}>
        {({ problems, reports }) => (
          <>
            <Problems texts={problems} />
            <DataTable
              label="Reports"
              rows={reports}
              empty={<p className="dim">None in the workspace: <code>spanproof gate --json &gt; gate.json</code> writes one.</p>}
              columns={[
                ["report", (each) => <Link href={`/gates/${pathOf(each.name)}`}><Plain text={each.name} /></Link>],
                ["result", (each) => <ResultMark state={each.state} />],
                ["assertions", (each) => each.assertions, "heat"],
                ["failing layers", (each) => each.failed_layers.join(", ") || "–"],
                ["written", (each) => <Time ns={each.written_ns} relative />, "dim"],
              ]}
            />
          </>
        )}
      </Shown>
      <TryAssertion />
      <Cli line="spanproof suite list SUITE" />
    </>
  );
}

function List({ list: { suites, workspace } }: { list: Schema["SuiteList"] }) {
  const none = workspace ? (
    <Empty title="No suite yet"><p>Promote a failing run from its page, and it is a case here.</p></Empty>
  ) : (
    <Empty title="This console has no workspace">
      <p><code>spanproof console --workspace DIR</code>, or <code>console.workspace</code> in the configuration, names the folder of suites, experiments and gate reports.</p>
    </Empty>
  );
  return (
    <DataTable
      label="Suites"
      rows={suites}
      empty={none}
      columns={[
        ["suite", (each) => <Link href={`/suites/${pathOf(each.name)}`}><Plain text={each.name} /></Link>],
        ["cases", (each) => each.cases, "heat"],
        ["frozen runs", (each) => (each.problem ? <span className="verdict errored">! <Plain text={each.problem} /></span> : <Counts counts={each.states} />)],
        ["fails", (each) => Object.entries(each.verdicts).filter(([layer]) => layer !== "none").map(([layer, n]) => `${layer} ${n}`).join(", ") || "–"],
        ["agents", (each) => Object.keys(each.agents).join(", ")],
        ["experiments", (each) => each.experiments, "heat"],
      ]}
    />
  );
}

/** A suite, or a case of one: the name of a suite may hold slashes. */
export function SuiteOrCase({ id }: PageParts) {
  const found = id.match(/^(.+)\/cases\/([^/]+)$/);
  return found ? <Case suite={found[1]!} id={found[2]!} /> : <Suite name={id} />;
}

function Suite({ name }: { name: string }) {
  const baseline = getParameter("baseline") ?? "";
  const found = useAnswer<Schema["SuitePage"]>(`suites/${name}`, baseline ? { baseline } : {});
  return (
    <>
      <Shown loaded={found} title="Suite">{(page) => <Matrix page={page} />}</Shown>
      <Cli line={`spanproof suite run ${quoted(decodeURIComponent(name))} --agent MODULE:FUNCTION${baseline ? ` --baseline ${quoted(baseline)}` : ""}`} />
    </>
  );
}

function Matrix({ page }: { page: Schema["SuitePage"] }) {
  const counted = page.columns.find((each) => each.name !== page.baseline);
  const flipped = page.rows.filter((row) => row.flipped).length;
  const sentence =
    page.baseline && counted
      ? `${counted.fixed} fixed and ${counted.regressed} regressed beside ${page.baseline}`
      : `${page.cases} ${page.cases === 1 ? "case" : "cases"}, ${flipped} flipped between experiments`;
  return (
    <>
      <Verdict crumbs={<><Link href="/suites">Suites</Link> / <Plain text={page.name} /></>} sentence={sentence} title={`${page.name}: ${sentence}`}>
        {page.columns.length > 1 ? <BaselineSelect value={page.baseline} names={page.columns.map((each) => each.name)} /> : null}
      </Verdict>
      {page.columns.length ? <StatusWords baseline={page.baseline} /> : (
        <p className="dim">
          No experiment in the workspace ran this suite; <code>spanproof suite run {page.name} --agent … --out DIR</code> writes one.
        </p>
      )}
      <DataTable
        label="Cases by experiments"
        rows={page.rows}
        idOf={(row) => `case-${row.case.id}`}
        columns={[
          ["case", ({ case: it, flipped }) => (
            <>
              <Link href={`/suites/${pathOf(page.name)}/cases/${encodeURIComponent(it.id)}`}><Plain text={it.task || it.id} /></Link>
              {flipped ? <span className="dim"> flipped</span> : null}
              {it.task ? <div className="dim"><Plain text={it.id} /></div> : null}
            </>
          ), "wide"],
          ["frozen run", ({ case: it }) => <>{it.trace_id ? <StateMark state={it.state} /> : null} <LayerMarks states={it.expectation} /></>],
          ...page.columns.map((column, index): Column<Schema["MatrixRow"]> => [<ColumnHead page={page} column={column} />, (row) => {
            const cell = row.cells[index];
            return cell ? <OneCell cell={cell} /> : <span className="dim">not run</span>;
          }, "matrix"]),
        ]}
      />
    </>
  );
}

/** An experiment above its cells: its results, rate and cost, and the difference to the baseline. */
function ColumnHead({ page, column }: { page: Schema["SuitePage"]; column: Schema["Column"] }) {
  const numbers = [`pass@1 ${percent(column.pass_at_1)}`, column.cost_usd === null ? "" : formatDollars(column.cost_usd), column.wall_s === null ? "" : formatDuration(column.wall_s * 1e9)];
  return (
    <>
      <Link href={`/experiments/${pathOf(column.name)}`}><Plain text={column.name} /></Link>
      <div><Counts counts={column.counts} /></div>
      <div className="dim">{numbers.filter(Boolean).join(" · ")}</div>
      <Interval low={column.low} high={column.high} n={column.trials} />
      {column.difference === null || column.name === page.baseline ? null : <Difference column={column} />}
    </>
  );
}

/** Choose the experiment that results are compared with; an empty value is none. */
export function BaselineSelect({ value, names }: { value?: string; names: string[] }) {
  return (
    <NativeSelect
      label="baseline"
      className="inline"
      value={value}
      data={[{ value: "", label: "none" }, ...names]}
      onChange={(event) => go(addressWith({ baseline: event.currentTarget.value }))}
    />
  );
}

/** The difference of the pass rates to a baseline, with its interval. */
export function Difference({ column }: { column: Schema["Column"] }) {
  const { difference, difference_low: low, difference_high: high, counts } = column;
  const isClear = low !== null && high !== null && (low > 0 || high < 0);
  const cases = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (difference !== null && !isClear && cases < FEW) return <span className="dim">too few cases to say ({points(difference)})</span>;
  return <>{points(difference)}{low === null ? null : <div className="dim">{points(low)} to {points(high)}</div>}</>;
}

/** What the words of results compare with: the baseline, or without one the frozen run of each case. */
export function StatusWords({ baseline }: { baseline?: string }) {
  return (
    <p className="dim">
      Compared with {baseline ? <Plain text={baseline} /> : "the frozen run of its case"}: <b>fixed</b> failed there, <b>regressed</b> passed there, <b>reproduced</b> fails in both.
    </p>
  );
}

export function OneCell({ cell }: { cell: Schema["Cell"] }) {
  return (
    <>
      <StateMark state={cell.state} text={cell.word} title={cell.reason} href={cell.beside} /> <span className="dim">{cell.passed}/{cell.trials}</span>{" "}
      <LayerMarks states={cell.layer_states} />
    </>
  );
}
