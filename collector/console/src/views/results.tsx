// Did the agent do what its suite requires? A result case by case: what did not pass first, with the code to blame.
import type { Schema } from "../api";
import { Cli, formatDuration, Plain, Shown, useAnswer } from "../parts";
import { report } from "../report";
import { Counts, ResultMark } from "../state";

/** An experiment, or a suite judged again. */
export function Results({ name }: { name: string }) {
  const found = useAnswer<Schema["ResultPage"]>(`experiments/${name}`);
  return (
    <>
      {report ? null : (
        <div class="dim">
          <a href="/suites">Suites</a> / experiment
        </div>
      )}
      <Shown loaded={found} title="Experiment">{(page) => <Whole page={page} />}</Shown>
    </>
  );
}

function Whole({ page }: { page: Schema["ResultPage"] }) {
  const failing = page.cases.filter((each) => each.state !== "pass");
  const passed = page.cases.filter((each) => each.state === "pass");
  return (
    <>
      <div class="head-of-run">
        <h1>
          <ResultMark state={page.state} /> <Plain text={page.headline} />
        </h1>
        <div>
          <Counts counts={page.counts} />
        </div>
        <div class="dim">
          <Plain text={page.title} />
        </div>
        {page.facts.length ? (
          <dl class="facts">
            {page.facts.map((fact) => (
              <>
                <dt>
                  <Plain text={fact.name} />
                </dt>
                <dd>
                  <Plain text={fact.value} />
                </dd>
              </>
            ))}
          </dl>
        ) : null}
      </div>
      {failing.map((each) => (
        <FailingCase each={each} />
      ))}
      {passed.length ? (
        <section class="card">
          <h2>
            {passed.length} {passed.length === 1 ? "case" : "cases"} passed
          </h2>
          <ul class="behind">
            {passed.map((each) => (
              <li>
                <ResultMark state={each.state} verdict={each.verdict} /> <Plain text={[each.name, each.reason].filter(Boolean).join(": ")} />{" "}
                {each.wall_s === null ? null : <span class="dim">{formatDuration(each.wall_s * 1e9)}</span>}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {page.left_out ? <p class="dim">{page.left_out} more cases are not listed.</p> : null}
      <Cli line={page.command} />
    </>
  );
}

function FailingCase({ each }: { each: Schema["ResultCase"] }) {
  return (
    <section class="card" id={`case-${each.name}`}>
      <h2>
        <ResultMark state={each.state} verdict={each.verdict} />{" "}
        <code>
          <Plain text={each.name} />
        </code>{" "}
        {each.layer ? <span class="dim">{each.layer}</span> : null}
      </h2>
      <p class="sentence">
        <Plain text={each.reason} />
      </p>
      {each.details.length ? (
        <ul class="behind">
          {each.details.map((line) => (
            <li>
              <Plain text={line} />
            </li>
          ))}
        </ul>
      ) : null}
      {each.runs.length ? (
        <div class="links">
          <span class="dim">open</span>
          {each.runs.map((run) => (
            <a href={`/${run.path}`}>
              <Plain text={run.name} />
            </a>
          ))}
        </div>
      ) : null}
      {each.marks.map((mark) => (
        <Marked mark={mark} />
      ))}
      <div class="dim">
        <Plain text={each.file} />
        {each.wall_s === null ? "" : ` · ${formatDuration(each.wall_s * 1e9)}`}
      </div>
    </section>
  );
}

/** Lines of code that are to blame. */
export function Marked({ mark }: { mark: Schema["GateMark"] }) {
  return (
    <>
      <p>
        <code>
          <Plain text={`${mark.uri}:${mark.line}`} />
        </code>{" "}
        <code>
          <Plain text={mark.rule} />
        </code>{" "}
        <Plain text={mark.message} />
      </p>
      <div class="source code" role="group" aria-label={`code of ${mark.uri}`}>
        <ol start={mark.first} style={{ counterReset: `line ${mark.first - 1}` }}>
          {mark.lines.map((line, index) => {
            const number = mark.first + index;
            return <li class={number >= mark.line && number <= mark.end_line ? "deny" : ""} dangerouslySetInnerHTML={{ __html: line }} />;
          })}
        </ol>
      </div>
    </>
  );
}
