// Is this safe to ship? Cases down, experiments across, reports of the gate, and an assertion tried on stored runs.
import type { Schema } from "../api";
import { addressWith, ago, Cli, Empty, Grid, Head, Interval, pathOf, percent, Plain, request, RunLink, Shown, useAnswer, useHours } from "../parts";
import { quoted } from "../query";
import { report } from "../report";
import { go, location } from "../router";
import { Counts, LayerMarks, ResultMark, StateMark } from "../state";
import { Marked } from "./results";

export function Suites() {
  const suites = useAnswer<Schema["SuiteList"]>("suites");
  const gates = useAnswer<Schema["GateList"]>("gates");
  return (
    <>
      <Head title="Suites and experiments" />
      <Shown loaded={suites}>{(list) => <List list={list} />}</Shown>
      <h2 class="below">Reports of the gate</h2>
      <Shown loaded={gates}>
        {(list) =>
          list.reports.length ? (
            <Grid label="Reports" heads={["report", "result", ["assertions", "heat"], "failing layers", "written"]}>
              {list.reports.map((each) => (
                <tr>
                  <th scope="row">
                    <a href={`/gates/${pathOf(each.name)}`}>
                      <Plain text={each.name} />
                    </a>
                  </th>
                  <td>
                    <ResultMark state={each.state} />
                  </td>
                  <td class="heat">{each.assertions}</td>
                  <td>{each.failed_layers.join(", ") || "–"}</td>
                  <td class="dim">{ago(each.written_ns)}</td>
                </tr>
              ))}
            </Grid>
          ) : (
            <p class="dim">
              None in the workspace: <code>spanproof gate --json &gt; gate.json</code> writes one.
            </p>
          )
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
      {list.suites.map((each) => (
        <tr>
          <th scope="row">
            <a href={`/suites/${pathOf(each.name)}`}>
              <Plain text={each.name} />
            </a>
          </th>
          <td class="heat">{each.cases}</td>
          <td>
            {each.problem ? (
              <span class="verdict errored">
                ! <Plain text={each.problem} />
              </span>
            ) : (
              <Counts counts={each.states} />
            )}
          </td>
          <td>
            <Plain text={Object.entries(each.verdicts).filter(([layer]) => layer !== "none").map(([layer, n]) => `${layer} ${n}`).join(", ") || "–"} />
          </td>
          <td>
            <Plain text={Object.keys(each.agents).join(", ")} />
          </td>
          <td class="heat">{each.experiments}</td>
        </tr>
      ))}
    </Grid>
  );
}

export function Suite({ name }: { name: string }) {
  const baseline = location.value.searchParams.get("baseline") ?? "";
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
      <div class="head-of-run">
        <div class="dim">
          <a href="/suites">Suites</a> / <Plain text={page.name} />
        </div>
        <h1>
          <Plain text={sentence} />
        </h1>
        {page.columns.length > 1 ? (
          <label>
            baseline{" "}
            <select value={page.baseline} onChange={(event) => go(addressWith({ baseline: event.currentTarget.value || null }))}>
              <option value="">none</option>
              {page.columns.map((each) => (
                <option value={each.name}>{each.name}</option>
              ))}
            </select>
          </label>
        ) : null}
      </div>
      {page.columns.length ? null : (
        <p class="dim">
          No experiment in the workspace ran this suite; <code>spanproof suite run {page.name} --agent … --out DIR</code> writes one.
        </p>
      )}
      <div class="table" tabIndex={0} role="region" aria-label="Cases by experiments">
        <table class="grid matrix">
          <thead>
            <tr>
              <th scope="col">case</th>
              <th scope="col">frozen run</th>
              {page.columns.map((each) => (
                <th scope="col">
                  <a href={`/experiments/${pathOf(each.name)}`}>
                    <Plain text={each.name} />
                  </a>
                  <div>
                    <Counts counts={each.counts} />
                  </div>
                  <div class="dim">
                    pass@1 {percent(each.pass_at_1)}
                    {each.cost_usd === null ? "" : ` · $${each.cost_usd.toFixed(3)}`}
                    {each.wall_s === null ? "" : ` · ${each.wall_s.toFixed(1)} s`}
                  </div>
                  <Interval low={each.low} high={each.high} n={each.trials} />
                  {each.difference === null || each.name === page.baseline ? null : (
                    <div class="dim">
                      {each.difference > 0 ? "+" : ""}
                      {(each.difference * 100).toFixed(1)} points
                      {each.difference_low === null ? "" : ` (${(each.difference_low * 100).toFixed(1)} to ${((each.difference_high ?? 0) * 100).toFixed(1)})`}
                    </div>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {page.rows.map((row) => (
              <tr id={`case-${row.case.id}`}>
                <th scope="row">
                  <a href={`/suites/${pathOf(page.name)}/cases/${encodeURIComponent(row.case.id)}`}>
                    <Plain text={row.case.id} />
                  </a>
                  {row.flipped ? <span class="dim"> flipped</span> : null}
                  <div class="dim clip" title={row.case.task}>
                    <Plain text={row.case.task} />
                  </div>
                </th>
                <td>
                  {row.case.trace_id ? <StateMark state={row.case.state} /> : null} <LayerMarks states={row.case.expectation} />
                </td>
                {row.cells.map((cell, index) => (
                  <td>{cell ? <OneCell cell={cell} href={besideBaseline(page, row, index)} /> : <span class="dim">not run</span>}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
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
export function nameStatus(cell: Schema["Cell"]): string {
  return cell.state === "pass" || cell.state === "fail" ? cell.status : cell.state;
}

export function OneCell({ cell, href }: { cell: Schema["Cell"]; href?: string | null }) {
  return (
    <>
      <StateMark state={cell.state} text={nameStatus(cell)} title={cell.reason} href={href} />{" "}
      <span class="dim">
        {cell.passed}/{cell.trials}
      </span>{" "}
      <LayerMarks states={cell.layer_states} />
    </>
  );
}

export function Gate({ name }: { name: string }) {
  const found = useAnswer<Schema["GatePage"]>(`gates/${name}`);
  return (
    <>
      {report ? null : (
        <div class="dim">
          <a href="/suites">Suites</a> / gate
        </div>
      )}
      <Shown loaded={found} title="Report of the gate">
        {(page) => (
          <>
            <h1>
              <ResultMark state={page.state} /> <Plain text={page.name} />
            </h1>
            <Assertions page={page} />
          </>
        )}
      </Shown>
      <Cli line="spanproof gate --assertions FILE" />
    </>
  );
}

export function Assertions({ page }: { page: Schema["GatePage"] }) {
  return (
    <>
      {page.cut ? <p class="dim">There are more scores than were read: choose a shorter window for an exact result.</p> : null}
      {page.assertions.map((each) => (
        <section class="card">
          <h2>
            <ResultMark state={each.state} verdict={each.verdict} />{" "}
            <code>
              <Plain text={each.assertion} />
            </code>
          </h2>
          <p>
            <Plain text={each.reason} />
          </p>
          {each.share === null ? null : <Interval low={each.low} high={each.high} n={each.judged} />}
          {each.failing.length ? (
            <Grid label="Cases against it" heads={["run", "agent", "state", ["value", "heat"], ["why", "wide"]]}>
              {each.failing.map((run) => (
                <tr>
                  <td>
                    <RunLink trace={run.trace_id} run={run.run_span_id} />
                  </td>
                  <td>
                    <Plain text={run.agent} />
                  </td>
                  <td>{run.state}</td>
                  <td class="heat">{run.value === null ? "–" : run.value.toFixed(2)}</td>
                  <td>
                    <Plain text={run.explanation} />
                  </td>
                </tr>
              ))}
            </Grid>
          ) : null}
          {each.marks.map((mark) => (
            <Marked mark={mark} />
          ))}
        </section>
      ))}
    </>
  );
}

function TryAssertion() {
  const hours = useHours("24");
  const assertion = location.value.searchParams.get("assertion") ?? "";
  const found = useAnswer<Schema["GatePage"]>(assertion ? "gate" : "", { assertion, hours });
  const submit = (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    go(addressWith({ assertion: String(form.get("assertion")), hours: String(form.get("hours")) }));
  };
  return (
    <section class="below">
      <h2>Try an assertion on stored runs</h2>
      <form class="query" onSubmit={submit}>
        <input name="assertion" aria-label="Assertion" defaultValue={assertion} placeholder="groundedness.score >= 0.85 for at_least 90% of cases" spellcheck={false} required />
        <label class="narrow">
          hours <input name="hours" type="number" min="0.1" max="8784" step="any" defaultValue={hours} />
        </label>
        <button type="submit">Try</button>
      </form>
      {assertion ? <Shown loaded={found}>{(page) => <Assertions page={page} />}</Shown> : null}
      {assertion ? <Cli line={`spanproof gate --assert ${quoted(assertion)} --since ${hours}h`} /> : <Cli line={request("gate?assertion=…")} />}
    </section>
  );
}
