// Did the agent do what its suite requires? A result case by case: what did not pass first, with the code to blame.
import { Fragment } from "react";
import { Table } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { get, type Schema } from "../api";
import { Cli, Empty, formatDuration, Grid, Head, Interval, PageTitle, pathOf, percent, Plain, Shown, Time, useAnswer } from "../parts";
import { report } from "../answers";
import type { PageParts } from "../root";
import { Counts, ResultMark } from "../state";
import { Marked } from "./gates";

const SUITES_READ = 20;

/** Every experiment of the workspace, the newest first, with its rate and what changed. */
export function Experiments() {
  const suites = useAnswer<Schema["SuiteList"]>("suites");
  return (
    <>
      <Head title="Experiments" />
      <Shown loaded={suites}>{(list) => <ExperimentList suites={list.suites.filter((each) => each.experiments).map((each) => each.name)} />}</Shown>
      <Cli line="spanproof suite run SUITE --agent MODULE:FUNCTION --out DIR" />
    </>
  );
}

function ExperimentList({ suites }: { suites: string[] }) {
  const read = suites.slice(0, SUITES_READ);
  const pages = useQueries({
    queries: read.map((name) => {
      const path = `suites/${pathOf(name)}`;
      return { queryKey: [path, { limit: "1" }], queryFn: () => get<Schema["SuitePage"]>(path, { limit: "1" }) };
    }),
  });
  if (!suites.length) {
    return (
      <Empty title="No experiment yet">
        <p>
          An experiment runs an agent on the cases of a suite: <code>spanproof suite run SUITE --agent MODULE:FUNCTION --out DIR</code> in the workspace writes one.
        </p>
      </Empty>
    );
  }
  const rows = pages.flatMap((page, index) => (page.data?.columns ?? []).map((column) => ({ column, suite: read[index]! })));
  rows.sort((a, b) => b.column.written_ns - a.column.written_ns);
  if (!rows.length) return <div aria-busy={pages.some((page) => page.isPending)} />;
  return (
    <Grid label="Experiments" heads={["experiment", "suite", "cases", ["pass@1", "heat"], ["cost", "heat"], ["time of a trial", "heat"], ["tokens", "heat"], "agent", "written"]}>
      {rows.map(({ column, suite }) => (
        <Table.Tr key={`${suite} ${column.name}`}>
          <Table.Th scope="row"><a href={`/experiments/${pathOf(column.name)}`}><Plain text={column.name} /></a></Table.Th>
          <Table.Td><a href={`/suites/${pathOf(suite)}`}><Plain text={suite} /></a></Table.Td>
          <Table.Td><Counts counts={column.counts} /></Table.Td>
          <Table.Td className="heat">
            {percent(column.pass_at_1)} <span className="dim">{column.low === null ? "" : `${percent(column.low)} to ${percent(column.high)}`}</span>
            <Interval low={column.low} high={column.high} n={column.trials} />
          </Table.Td>
          <Table.Td className="heat">{column.cost_usd === null ? "–" : `$${column.cost_usd.toFixed(3)}`}</Table.Td>
          <Table.Td className="heat">{column.wall_s === null ? "–" : formatDuration(column.wall_s * 1e9)}</Table.Td>
          <Table.Td className="heat">{column.tokens ? column.tokens.toLocaleString("en") : "–"}</Table.Td>
          <Table.Td><Plain text={column.agent} /></Table.Td>
          <Table.Td className="dim"><Time ns={column.written_ns} relative /></Table.Td>
        </Table.Tr>
      ))}
    </Grid>
  );
}

/** An experiment, or a suite judged again. */
export function Experiment({ id: name }: PageParts) {
  const found = useAnswer<Schema["ResultPage"]>(`experiments/${name}`);
  return (
    <>
      {report ? null : <div className="dim"><a href="/experiments">Experiments</a> / <Plain text={decodeURIComponent(name)} /></div>}
      <Shown loaded={found} title="Experiment">{(page) => <Whole page={page} />}</Shown>
    </>
  );
}

function Whole({ page }: { page: Schema["ResultPage"] }) {
  const failing = page.cases.filter((each) => each.state !== "pass");
  const passed = page.cases.filter((each) => each.state === "pass");
  return (
    <>
      <PageTitle text={page.title} state={page.state} />
      <div className="head-of-run">
        <h1><ResultMark state={page.state} /> <Plain text={page.headline} /></h1>
        <div><Counts counts={page.counts} /></div>
        <div className="dim"><Plain text={page.title} /></div>
        {page.facts.length ? (
          <dl className="facts">
            {page.facts.map((fact, index) => (
              <Fragment key={index}><dt><Plain text={fact.name} /></dt><dd><Plain text={fact.value} /></dd></Fragment>
            ))}
          </dl>
        ) : null}
      </div>
      {failing.map((each, index) => <FailingCase key={index} each={each} />)}
      {passed.length ? (
        <section className="card">
          <h2>
            {passed.length} {passed.length === 1 ? "case" : "cases"} passed
          </h2>
          <ul className="behind">
            {passed.map((each, index) => (
              <li key={index}>
                <ResultMark state={each.state} verdict={each.verdict} /> <Plain text={[each.name, each.reason].filter(Boolean).join(": ")} />{" "}
                {each.wall_s === null ? null : <span className="dim">{formatDuration(each.wall_s * 1e9)}</span>}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {page.left_out ? <p className="dim">{page.left_out} more cases are not listed.</p> : null}
      <Cli line={page.command} />
    </>
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
      {each.details.length ? (
        <ul className="behind">{each.details.map((line, index) => <li key={index}><Plain text={line} /></li>)}</ul>
      ) : null}
      {each.runs.length ? (
        <div className="links">
          <span className="dim">open</span>
          {each.runs.map((run, index) => <a key={index} href={`/${run.path}`}><Plain text={run.name} /></a>)}
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

