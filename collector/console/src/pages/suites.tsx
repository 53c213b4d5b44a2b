// Is this safe to ship? Cases down, experiments across, reports of the gate, and an assertion tried on stored runs.
import { NativeSelect, Table } from "@mantine/core";
import type { Schema, State } from "../api";
import { Cli, Empty, Grid, Head, Interval, Link, PageTitle, pathOf, percent, Plain, points, Shown, Time, useAnswer } from "../parts";
import { quoted } from "../query";
import { addressWith, go, here } from "../location";
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
        {(list) =>
          list.reports.length ? (
            <Grid label="Reports" heads={["report", "result", ["assertions", "heat"], "failing layers", "written"]}>
              {list.reports.map((each, index) => (
                <Table.Tr key={index}>
                  <Table.Th scope="row"><Link href={`/gates/${pathOf(each.name)}`}><Plain text={each.name} /></Link></Table.Th>
                  <Table.Td><ResultMark state={each.state} /></Table.Td>
                  <Table.Td className="heat">{each.assertions}</Table.Td>
                  <Table.Td>{each.failed_layers.join(", ") || "–"}</Table.Td>
                  <Table.Td className="dim"><Time ns={each.written_ns} relative /></Table.Td>
                </Table.Tr>
              ))}
            </Grid>
          ) : <p className="dim">None in the workspace: <code>spanproof gate --json &gt; gate.json</code> writes one.</p>
        }
      </Shown>
      <TryAssertion />
      <Cli line="spanproof suite list SUITE" />
    </>
  );
}

function List({ list }: { list: Schema["SuiteList"] }) {
  if (!list.suites.length) {
    return (
      <Empty title={list.workspace ? "No suite yet" : "This console has no workspace"}>
        <p>
          {list.workspace ? (
            "Promote a failing run from its page, and it is a case here."
          ) : (
            <>
              <code>spanproof console --workspace DIR</code>, or <code>console.workspace</code> in the configuration, names the folder of suites, experiments and gate reports.
            </>
          )}
        </p>
      </Empty>
    );
  }
  return (
    <Grid label="Suites" heads={["suite", ["cases", "heat"], "frozen runs", "fails", "agents", ["experiments", "heat"]]}>
      {list.suites.map((each, index) => (
        <Table.Tr key={index}>
          <Table.Th scope="row"><Link href={`/suites/${pathOf(each.name)}`}><Plain text={each.name} /></Link></Table.Th>
          <Table.Td className="heat">{each.cases}</Table.Td>
          <Table.Td>
            {each.problem ? <span className="verdict errored">! <Plain text={each.problem} /></span> : <Counts counts={each.states} />}
          </Table.Td>
          <Table.Td>
            <Plain text={Object.entries(each.verdicts).filter(([layer]) => layer !== "none").map(([layer, n]) => `${layer} ${n}`).join(", ") || "–"} />
          </Table.Td>
          <Table.Td><Plain text={Object.keys(each.agents).join(", ")} /></Table.Td>
          <Table.Td className="heat">{each.experiments}</Table.Td>
        </Table.Tr>
      ))}
    </Grid>
  );
}

/** A suite, or a case of one: the name of a suite may hold slashes. */
export function SuiteOrCase({ id }: PageParts) {
  const found = id.match(/^(.+)\/cases\/([^/]+)$/);
  return found ? <Case suite={found[1]!} id={found[2]!} /> : <Suite name={id} />;
}

function Suite({ name }: { name: string }) {
  const baseline = here().searchParams.get("baseline") ?? "";
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
      : `${page.cases} ${page.cases === 1 ? "case" : "cases"}, ${flipped} of them flipped between experiments`;
  return (
    <>
      <div className="head-of-run">
        <div className="dim"><Link href="/suites">Suites</Link> / <Plain text={page.name} /></div>
        <h1><Plain text={sentence} /></h1>
        <PageTitle text={`${page.name}: ${sentence}`} />
        {page.columns.length > 1 ? (
          <NativeSelect
            label="baseline"
            value={page.baseline}
            data={[{ value: "", label: "none" }, ...page.columns.map((each) => each.name)]}
            onChange={(event) => go(addressWith({ baseline: event.currentTarget.value || null }))}
          />
        ) : null}
      </div>
      {page.columns.length ? null : (
        <p className="dim">
          No experiment in the workspace ran this suite; <code>spanproof suite run {page.name} --agent … --out DIR</code> writes one.
        </p>
      )}
      <div className="table" tabIndex={0} role="region" aria-label="Cases by experiments">
        <Table className="grid matrix" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">case</Table.Th>
              <Table.Th scope="col">frozen run</Table.Th>
              {page.columns.map((each, index) => (
                <Table.Th key={index} scope="col">
                  <Link href={`/experiments/${pathOf(each.name)}`}><Plain text={each.name} /></Link>
                  <div><Counts counts={each.counts} /></div>
                  <div className="dim">
                    pass@1 {percent(each.pass_at_1)}
                    {each.cost_usd === null ? "" : ` · $${each.cost_usd.toFixed(3)}`}
                    {each.wall_s === null ? "" : ` · ${each.wall_s.toFixed(1)} s`}
                  </div>
                  <Interval low={each.low} high={each.high} n={each.trials} />
                  {each.difference === null || each.name === page.baseline ? null : (
                    <div className="dim">
                      {points(each.difference)}
                      {each.difference_low === null ? "" : ` (${points(each.difference_low)} to ${points(each.difference_high)})`}
                    </div>
                  )}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {page.rows.map((row, index) => (
              <Table.Tr key={index} id={`case-${row.case.id}`}>
                <Table.Th scope="row">
                  <Link href={`/suites/${pathOf(page.name)}/cases/${encodeURIComponent(row.case.id)}`}><Plain text={row.case.id} /></Link>
                  {row.flipped ? <span className="dim"> flipped</span> : null}
                  <div className="dim clip" title={row.case.task}><Plain text={row.case.task} /></div>
                </Table.Th>
                <Table.Td>
                  {row.case.trace_id ? <StateMark state={row.case.state} /> : null} <LayerMarks states={row.case.expectation} />
                </Table.Td>
                {row.cells.map((cell, index) => (
                  <Table.Td key={index}>{cell ? <OneCell cell={cell} href={besideBaseline(page, row, index)} /> : <span className="dim">not run</span>}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  );
}

/** Return the address of a cell's trial beside the baseline's, or beside the frozen run; null where a trace is missing. */
function besideBaseline(page: Schema["SuitePage"], row: Schema["MatrixRow"], index: number): string | null {
  const reference = (at: number) => {
    const cell = row.cells[at];
    return cell?.has_trace ? `trials/${page.columns[at]!.name}/${row.case.id}/${cell.trial}` : null;
  };
  const base = page.columns.findIndex((each) => each.name === page.baseline);
  const before = base >= 0 && base !== index ? reference(base) : row.case.trace_id ? `cases/${page.name}/${row.case.id}` : null;
  const after = reference(index);
  if (!after) return null;
  return before ? `/compare/runs?${new URLSearchParams({ before, after })}` : `/${after}`;
}

/** Return the word for a case: how it came out, and the state where that is neither passed nor failed. */
export function nameStatus(cell: { state: State; status: Schema["CaseStatus"] }): string {
  return cell.state === "pass" || cell.state === "fail" ? cell.status : cell.state;
}

export function OneCell({ cell, href }: { cell: Schema["Cell"]; href?: string | null }) {
  return (
    <>
      <StateMark state={cell.state} text={nameStatus(cell)} title={cell.reason} href={href} />{" "}
      <span className="dim">
        {cell.passed}/{cell.trials}
      </span>{" "}
      <LayerMarks states={cell.layer_states} />
    </>
  );
}

