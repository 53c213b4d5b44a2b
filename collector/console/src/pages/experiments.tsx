// Is the change better? Experiments, and one of them as a grid of cases by trials beside a baseline.
import { useId, useState, type ReactNode } from "react";
import { Popover } from "@mantine/core";
import type { Schema } from "../api";
import { Cli, DataTable, Empty, formatDollars, formatDuration, Head, Interval, Items, Link, pathOf, percent, Plain, Problems, Properties, Shown, Time, useAnswer, Verdict, type Column as TableColumn } from "../parts";
import { report } from "../answers";
import { getParameter } from "../location";
import { quoted } from "../query";
import type { PageParts } from "../root";
import { Counts, LayerMarks, ResultMark, StateMark } from "../state";
import { Marked } from "./gates";
import { BaselineSelect, Difference, StatusWords } from "./suites";

type Column = Schema["Column"];
type GridRow = Schema["GridRow"];
type Whole = Schema["ExperimentPage"];
type OfGrid = "name" | "suite" | "column" | "baseline" | "baselines" | "rows";
/** A result, with a grid where it is of an experiment in the workspace: a file holds none. */
type Page = Omit<Whole, OfGrid> & Partial<Pick<Whole, OfGrid>>;

/** Every experiment of the workspace, the newest first, with its rate and what changed. */
export function Experiments() {
  const found = useAnswer<Schema["ExperimentList"]>("experiments");
  const none = (
    <Empty title="No experiment yet">
      <p>An experiment runs an agent on the cases of a suite: <code>spanproof suite run SUITE --agent MODULE:FUNCTION --out DIR</code> in the workspace writes one.</p>
    </Empty>
  );
  return (
    <>
      <Head title="Experiments" />
      <Shown loaded={found}>
        {({ problems, experiments }) => (
          <>
            <Problems texts={problems} />
            <DataTable
              label="Experiments"
              rows={experiments}
              empty={none}
              columns={[
                ["experiment", ({ column }) => <Link href={`/experiments/${pathOf(column.name)}`}><Plain text={column.name} /></Link>],
                ["suite", ({ suite }) => <Link href={`/suites/${pathOf(suite)}`}><Plain text={suite} /></Link>],
                ["cases", ({ column }) => <Counts counts={column.counts} />],
                ["pass@1", ({ column }) => <PassRate column={column} />, "heat"],
                ["to the one before", ({ column, baseline }) => <span title={baseline ? `beside ${baseline}` : undefined}><Difference column={column} /></span>, "heat"],
                ["cost", ({ column }) => formatDollars(column.cost_usd), "heat"],
                ["time of a trial", ({ column }) => formatSeconds(column.wall_s), "heat"],
                ["tokens", ({ column }) => column.tokens?.toLocaleString("en") || "–", "heat"],
                ["agent", ({ column }) => <div className="clip" title={column.agent}><Plain text={column.agent} /></div>],
                ["written", ({ column }) => <Time ns={column.written_ns} relative />, "dim"],
              ]}
            />
          </>
        )}
      </Shown>
      <Cli line="spanproof suite run SUITE --agent MODULE:FUNCTION --out DIR" />
    </>
  );
}

function formatSeconds(seconds: number | null): string {
  return seconds === null ? "–" : formatDuration(seconds * 1e9);
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
  const baseline = getParameter("baseline");
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
  const mark = isNamed ? <StateMark state={page.state} text="" /> : <ResultMark state={page.state} />;
  return (
    <>
      <Verdict title={page.name ?? page.title} state={page.state} mark={mark} sentence={page.headline}>
        <div><Counts counts={page.counts} /></div>
        <div className="dim"><Plain text={page.title} /></div>
      </Verdict>
      {page.column ? <Numbers page={page} column={page.column} /> : null}
      {page.rows ? <><StatusWords baseline={page.baseline} /><CaseGrid page={page} rows={page.rows} /></> : null}
      {page.facts.length ? (
        <details className="below" open={!page.rows}>
          <summary>All numbers of the report</summary>
          <Properties rows={page.facts.map((fact) => [fact.name, fact.value])} />
        </details>
      ) : null}
      {page.rows && failing.length ? <h2 className="below">What did not pass, and why</h2> : null}
      {failing.map((each) => <FailingCase key={each.name} each={each} />)}
      {passed.length && !page.rows ? (
        <section className="card">
          <h2>{passed.length} {passed.length === 1 ? "case" : "cases"} passed</h2>
          <Items
            items={passed.map(({ state, verdict, name, reason, wall_s }) => (
              <>
                <ResultMark state={state} verdict={verdict} /> <Plain text={[name, reason].filter(Boolean).join(": ")} />{" "}
                {wall_s === null ? null : <span className="dim">{formatSeconds(wall_s)}</span>}
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
  const values: [string, ReactNode][] = [
    ["pass@1", <PassRate column={column} />],
    ["difference", page.baseline ? <><Difference column={column} /> <div className="dim">{column.fixed} fixed, {column.regressed} regressed</div></> : "no baseline"],
    ["cost", formatDollars(column.cost_usd)],
    ["time of a trial", formatSeconds(column.wall_s)],
    ["tokens", column.tokens?.toLocaleString("en") || "–"],
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
        ["result", (row) => <><StateMark state={row.state} text={row.word} />{row.flipped ? <div className="dim">flipped</div> : null}</>],
        ...(page.baseline ? [baseline] : []),
        ...Array.from({ length: trials }, (_, index): TableColumn<GridRow> => [
          trials === 1 ? "trial" : `trial ${index + 1}`,
          (row) => (row.trials[index] ? <TrialMarks trial={row.trials[index]} /> : notRun),
        ]),
        ["cost", (row) => formatDollars(row.cost_usd), "heat"],
        ["time", (row) => formatSeconds(row.wall_s), "heat"],
      ]}
    />
  );
}

/** The five marks of a trial. Its answer is shown on hover; a click opens it beside the baseline's, aligned by step. */
function TrialMarks({ trial }: { trial: Schema["TrialCell"] }) {
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
      <Popover.Target>{trial.beside ? <Link href={trial.beside} {...parts} /> : <span tabIndex={0} {...parts} />}</Popover.Target>
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
        <ResultMark state={each.state} verdict={each.verdict} /> <code><Plain text={each.name} /></code>{" "}
        {each.layer ? <span className="dim">{each.layer}</span> : null}
      </h2>
      <p className="sentence"><Plain text={each.reason} /></p>
      <Items items={each.details} />
      {each.runs.length ? (
        <div className="links">
          <span className="dim">open</span>
          {each.runs.map((run, index) => <Link key={index} href={`/${run.path}`}><Plain text={run.name} /></Link>)}
        </div>
      ) : null}
      {each.marks.map((mark, index) => <Marked key={index} mark={mark} />)}
      <div className="dim"><Plain text={each.wall_s === null ? each.file : `${each.file} · ${formatSeconds(each.wall_s)}`} /></div>
    </section>
  );
}

