// Is the change better? Experiments, and one of them as a grid of cases by trials beside a baseline.
import { useId, useState } from "react";
import { Popover } from "@mantine/core";
import type { Schema } from "../api";
import { Cli, DataTable, Empty, formatDollars, formatDuration, Head, Interval, Items, Link, PageTitle, pathOf, percent, Plain, Problems, Properties, Shown, Time, useAnswer, type Column as TableColumn } from "../parts";
import { report } from "../answers";
import { here } from "../location";
import { quoted } from "../query";
import type { PageParts } from "../root";
import { Counts, LayerMarks, ResultMark, StateMark } from "../state";
import { Marked } from "./gates";
import { addressBeside, BaselineSelect, Difference, nameStatus, StatusWords } from "./suites";

type Column = Schema["Column"];
type GridRow = Schema["GridRow"];
type Whole = Schema["ExperimentPage"];
type OfGrid = "name" | "suite" | "column" | "baseline" | "baselines" | "rows";
/** A result, with a grid where it is of an experiment in the workspace: a file holds none. */
type Page = Omit<Whole, OfGrid> & Partial<Pick<Whole, OfGrid>>;

/** Every experiment of the workspace, the newest first, with its rate and what changed. */
export function Experiments() {
  const found = useAnswer<Schema["ExperimentList"]>("experiments");
  return (
    <>
      <Head title="Experiments" />
      <Shown loaded={found}>{(list) => <><Problems texts={list.problems} /><ExperimentList rows={list.experiments} /></>}</Shown>
      <Cli line="spanproof suite run SUITE --agent MODULE:FUNCTION --out DIR" />
    </>
  );
}

function ExperimentList({ rows }: { rows: Schema["ExperimentRow"][] }) {
  if (!rows.length) {
    return (
      <Empty title="No experiment yet">
        <p>An experiment runs an agent on the cases of a suite: <code>spanproof suite run SUITE --agent MODULE:FUNCTION --out DIR</code> in the workspace writes one.</p>
      </Empty>
    );
  }
  return (
    <DataTable
      label="Experiments"
      rows={rows}
      columns={[
        ["experiment", ({ column }) => <Link href={`/experiments/${pathOf(column.name)}`}><Plain text={column.name} /></Link>],
        ["suite", ({ suite }) => <Link href={`/suites/${pathOf(suite)}`}><Plain text={suite} /></Link>],
        ["cases", ({ column }) => <Counts counts={column.counts} />],
        ["pass@1", ({ column }) => <PassRate column={column} />, "heat"],
        ["to the one before", ({ column, baseline }) => <span title={baseline ? `beside ${baseline}` : undefined}><Difference column={column} /></span>, "heat"],
        ["cost", ({ column }) => formatDollars(column.cost_usd), "heat"],
        ["time of a trial", ({ column }) => (column.wall_s === null ? "–" : formatDuration(column.wall_s * 1e9)), "heat"],
        ["tokens", ({ column }) => (column.tokens ? column.tokens.toLocaleString("en") : "–"), "heat"],
        ["agent", ({ column }) => <div className="clip" title={column.agent}><Plain text={column.agent} /></div>],
        ["written", ({ column }) => <Time ns={column.written_ns} relative />, "dim"],
      ]}
    />
  );
}

/** The share of cases that pass at the first try, with its interval. */
function PassRate({ column }: { column: Column }) {
  return (
    <>
      {percent(column.pass_at_1)} <span className="dim">{column.low === null ? "" : `${percent(column.low)} to ${percent(column.high)}`}</span>
      <Interval low={column.low} high={column.high} n={column.trials} />
    </>
  );
}

/** An experiment, or a suite judged again. */
export function Experiment({ id: name }: PageParts) {
  const baseline = here().searchParams.get("baseline");
  const found = useAnswer<Page>(`experiments/${name}`, baseline === null ? {} : { baseline });
  return (
    <>
      {report ? null : <div className="dim"><Link href="/experiments">Experiments</Link> / <Plain text={decodeURIComponent(name)} /></div>}
      <Shown loaded={found} title="Experiment">{(page) => <Result page={page} />}</Shown>
    </>
  );
}

function Result({ page }: { page: Page }) {
  const failing = page.cases.filter((each) => each.state !== "pass");
  const passed = page.cases.filter((each) => each.state === "pass");
  const isNamed = /^(passed|failed):/.test(page.headline);
  return (
    <>
      <PageTitle text={page.name ?? page.title} state={page.state} />
      <div className="head-of-run">
        <h1>{isNamed ? <StateMark state={page.state} text="" /> : <ResultMark state={page.state} />} <Plain text={page.headline} /></h1>
        <div><Counts counts={page.counts} /></div>
        <div className="dim"><Plain text={page.title} /></div>
      </div>
      {page.column ? <Numbers page={page} column={page.column} /> : null}
      {page.rows ? <StatusWords baseline={page.baseline} /> : null}
      {page.rows ? <CaseGrid page={page} rows={page.rows} /> : null}
      {page.facts.length ? (
        <details className="below" open={!page.rows}>
          <summary>All numbers of the report</summary>
          <Properties rows={page.facts.map((fact) => [<Plain text={fact.name} />, <Plain text={fact.value} />])} />
        </details>
      ) : null}
      {page.rows && failing.length ? <h2 className="below">What did not pass, and why</h2> : null}
      {failing.map((each, index) => <FailingCase key={index} each={each} />)}
      {passed.length && !page.rows ? (
        <section className="card">
          <h2>{passed.length} {passed.length === 1 ? "case" : "cases"} passed</h2>
          <Items
            items={passed.map((each) => (
              <>
                <ResultMark state={each.state} verdict={each.verdict} /> <Plain text={[each.name, each.reason].filter(Boolean).join(": ")} />{" "}
                {each.wall_s === null ? null : <span className="dim">{formatDuration(each.wall_s * 1e9)}</span>}
              </>
            ))}
          />
        </section>
      ) : null}
      {page.left_out ? <p className="dim">{page.left_out} more cases are not listed.</p> : null}
      <Cli line={page.baseline ? `${page.command} --baseline ${quoted(page.baseline)}` : page.command} />
    </>
  );
}

/** What an experiment comes to: its rate, the difference to the baseline, cost and time. */
function Numbers({ page, column }: { page: Page; column: Column }) {
  const values: [string, React.ReactNode][] = [
    ["pass@1", <PassRate column={column} />],
    ["difference", page.baseline ? <><Difference column={column} /> <div className="dim">{column.fixed} fixed, {column.regressed} regressed</div></> : "no baseline"],
    ["cost", formatDollars(column.cost_usd)],
    ["time of a trial", column.wall_s === null ? "–" : formatDuration(column.wall_s * 1e9)],
    ["tokens", column.tokens ? column.tokens.toLocaleString("en") : "–"],
  ];
  return (
    <>
      {page.baselines?.length ? <BaselineSelect value={page.baseline} names={page.baselines} /> : null}
      <div className="rates">
        {values.map(([name, value]) => (
          <div key={name} className="rate"><div className="dim">{name}</div><div className="number">{value}</div></div>
        ))}
      </div>
    </>
  );
}

const sum = (all: number[]) => all.reduce((total, each) => total + each, 0);

/** Cases down, trials across; those that flipped against the baseline, or from trial to trial, come first. */
function CaseGrid({ page, rows }: { page: Page; rows: GridRow[] }) {
  const trials = Math.max(1, ...rows.map((row) => row.trials.length));
  const notRun = <span className="dim">not run</span>;
  const baseline: TableColumn<GridRow> = ["baseline", ({ before }) => (before ? <LayerMarks states={before.layer_states} /> : notRun)];
  return (
    <DataTable
      label="Cases by trials"
      rows={rows}
      columns={[
        ["case", ({ case: it }) => (
          <Link href={`/suites/${pathOf(page.suite ?? "")}/cases/${encodeURIComponent(it.id)}`} title={it.id}><Plain text={it.task || it.id} /></Link>
        ), "wide"],
        ["result", (row) => <><StateMark state={row.state} text={nameStatus(row)} />{row.flipped ? <div className="dim">flipped</div> : null}</>],
        ...(page.baseline ? [baseline] : []),
        ...Array.from({ length: trials }, (_, index): TableColumn<GridRow> => [
          trials === 1 ? "trial" : `trial ${index + 1}`,
          (row) => (row.trials[index] ? <TrialMarks page={page} row={row} trial={row.trials[index]} /> : notRun),
        ]),
        ["cost", (row) => {
          const costs = row.trials.flatMap((trial) => (trial.cost_usd === null ? [] : [trial.cost_usd]));
          return formatDollars(costs.length ? sum(costs) : null);
        }, "heat"],
        ["time", (row) => formatDuration(sum(row.trials.map((trial) => trial.wall_s)) * 1e9), "heat"],
      ]}
    />
  );
}

/** The five marks of a trial. Its answer is shown on hover; a click opens it beside the baseline's, aligned by step. */
function TrialMarks({ page, row, trial }: { page: Page; row: GridRow; trial: Schema["TrialCell"] }) {
  const after = `trials/${page.name}/${row.case.id}/${trial.number}`;
  const frozen = row.case.trace_id ? `cases/${page.suite}/${row.case.id}` : null;
  const before = row.before?.has_trace ? `trials/${page.baseline}/${row.case.id}/${row.before.trial}` : frozen;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const parts = {
    className: "trial",
    "aria-describedby": isOpen ? id : undefined,
    onMouseEnter: () => setOpen(true),
    onMouseLeave: () => setOpen(false),
    onFocus: () => setOpen(true),
    onBlur: () => setOpen(false),
    children: <><StateMark state={trial.state} /> <LayerMarks states={trial.layer_states} /></>,
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} width={360} withRoles={false} transitionProps={{ duration: 0 }}>
      <Popover.Target>{trial.has_trace ? <Link href={addressBeside(before, after)} {...parts} /> : <span tabIndex={0} {...parts} />}</Popover.Target>
      <Popover.Dropdown id={id} role="tooltip">
        <div>{trial.answer ? <Plain text={trial.answer} /> : "no answer"}</div>
        {trial.reason ? <div className="dim"><Plain text={trial.reason} /></div> : null}
      </Popover.Dropdown>
    </Popover>
  );
}

function FailingCase({ each }: { each: Schema["ResultCase"] }) {
  return (
    <section className="card" id={`case-${each.name}`}>
      <h2>
        <ResultMark state={each.state} verdict={each.verdict} />{" "}
        <code>
          <Plain text={each.name} />
        </code>{" "}
        {each.layer ? <span className="dim">{each.layer}</span> : null}
      </h2>
      <p className="sentence"><Plain text={each.reason} /></p>
      <Items items={each.details.map((line) => <Plain text={line} />)} />
      {each.runs.length ? (
        <div className="links">
          <span className="dim">open</span>
          {each.runs.map((run, index) => <Link key={index} href={`/${run.path}`}><Plain text={run.name} /></Link>)}
        </div>
      ) : null}
      {each.marks.map((mark, index) => <Marked key={index} mark={mark} />)}
      <div className="dim">
        <Plain text={each.file} />
        {each.wall_s === null ? "" : ` · ${formatDuration(each.wall_s * 1e9)}`}
      </div>
    </section>
  );
}

