// Reports of the gate, an assertion tried on stored runs, and the code to blame.
import { Button, TextInput } from "@mantine/core";
import { report } from "../answers";
import type { Schema } from "../api";
import { addressWith, getParameter, go } from "../location";
import { Cli, DataTable, Form, Interval, Link, Plain, RunLink, Shown, useAnswer, useHours, Verdict } from "../parts";
import { quoted } from "../query";
import type { PageParts } from "../root";
import { isState, ResultMark, StateMark } from "../state";

export function Gate({ id: name }: PageParts) {
  const found = useAnswer<Schema["GatePage"]>(`gates/${name}`);
  return (
    <>
      {report ? null : <div className="dim"><Link href="/suites">Suites</Link> / gate</div>}
      <Shown loaded={found} title="Report of the gate">
        {(page) => (
          <>
            <Verdict mark={<ResultMark state={page.state} />} sentence={page.name} state={page.state} />
            <Assertions page={page} />
          </>
        )}
      </Shown>
      <Cli line="spanproof gate --assertions FILE" />
    </>
  );
}

function Assertions({ page }: { page: Schema["GatePage"] }) {
  return (
    <>
      {page.cut ? <p className="dim">There are more scores than were read: choose a shorter window for an exact result.</p> : null}
      {page.assertions.map((each, index) => (
        <section key={index} className="card">
          <h2><ResultMark state={each.state} verdict={each.verdict} /> <code><Plain text={each.assertion} /></code></h2>
          <p><Plain text={each.reason} /></p>
          {each.share === null ? null : <Interval low={each.low} high={each.high} n={each.judged} />}
          <DataTable
            label="Cases against it"
            rows={each.failing}
            empty={<></>}
            columns={[
              ["run", (run) => <RunLink trace={run.trace_id} run={run.run_span_id} />],
              ["agent", (run) => run.agent],
              ["state", (run) => <StateMark state={isState(run.state) ? run.state : "fail"} text={run.state} />],
              ["value", (run) => run.value?.toFixed(2) ?? "–", "heat"],
              ["why", (run) => run.explanation, "wide"],
            ]}
          />
          {each.marks.map((mark, index) => <Marked key={index} mark={mark} />)}
        </section>
      ))}
    </>
  );
}

export function TryAssertion() {
  const hours = useHours();
  const assertion = getParameter("assertion") ?? "";
  const found = useAnswer<Schema["GatePage"]>(assertion ? "gate" : "", { assertion, hours });
  return (
    <section className="below">
      <h2>Try an assertion on stored runs</h2>
      <Form className="fields" submit={(fields) => go(addressWith(fields))}>
        <TextInput className="grow" name="assertion" label="Assertion" defaultValue={assertion} placeholder="groundedness.score >= 0.85 for at_least 90% of cases" required />
        <TextInput label="hours" name="hours" type="number" min="0.1" max="8784" step="any" defaultValue={hours} />
        <Button type="submit">Try</Button>
      </Form>
      {assertion ? (
        <>
          <Shown loaded={found}>{(page) => <Assertions page={page} />}</Shown>
          <Cli line={`spanproof gate --assert ${quoted(assertion)} --since ${hours}h`} />
        </>
      ) : null}
    </section>
  );
}

/** Lines of code that are to blame. */
export function Marked({ mark }: { mark: Schema["GateMark"] }) {
  return (
    <>
      <p><code><Plain text={`${mark.uri}:${mark.line}`} /></code> <code><Plain text={mark.rule} /></code> <Plain text={mark.message} /></p>
      <div className="source code" role="group" aria-label={`code of ${mark.uri}`}>
        <ol start={mark.first} style={{ counterReset: `line ${mark.first - 1}` }}>
          {mark.lines.map((line, index) => {
            const number = mark.first + index;
            return <li className={number >= mark.line && number <= mark.end_line ? "deny" : ""} dangerouslySetInnerHTML={{ __html: line }} />;
          })}
        </ol>
      </div>
    </>
  );
}
