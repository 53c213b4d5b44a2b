// Edit and run: a stored run with other code or other results of tools, run in the sandbox and judged beside the record.
import { TextInput } from "@mantine/core";
import { useState } from "react";
import { LAYERS, type Schema } from "../api";
import { EditForm } from "../editform";
import { DataTable, Explanation, Plain, Shown, useAnswer } from "../parts";
import { Step, textOf } from "../steps";
import { Outcome, StateMark } from "../state";

type Run = Schema["Run"];
type RunStep = Schema["Step"];
type Result = Schema["JudgedReplay"];

export default function EditRun({ trace, project, recorded }: { trace: string; project: string; recorded: Run }) {
  const loaded = useAnswer<Schema["EditableRun"]>(`traces/${trace}/editable`, { run: recorded.span_id, project });
  const [result, setResult] = useState<Result | null>(null);
  const show = (answer: Result, { suite }: Record<string, string>) => {
    setResult(answer);
    return `${answer.run.state}${answer.case ? `; case ${answer.case.case} of ${suite}: ${answer.case.change}` : ""}`;
  };
  const body = ({ suite = "" }: Record<string, string>) => ({ run_span_id: recorded.span_id, project, suite: suite.trim() || null });
  return (
    <section className="card" aria-label="Edit and run">
      <h2>Edit and run</h2>
      <Shown loaded={loaded}>
        {({ can_replay, code, calls }) => (can_replay ? (
          <>
            <p className="dim">The recorded tools answer, and the limits and the policy are those of evaluation. The trace stays as it is; who runs this is audited.</p>
            <EditForm code={code} calls={calls} path={`traces/${trace}/replay`} body={body} onDone={show}>
              <TextInput name="suite" aria-label="Keep as a case of suite" placeholder="keep as a case of suite …" autoComplete="off" />
            </EditForm>
            {result ? <Beside before={recorded} after={result.run} /> : null}
          </>
        ) : <p className="dim">{code.length ? "This console has no sandbox: `spanproof serve` has one." : "No code of this run ran."}</p>)}
      </Shown>
    </section>
  );
}

function Beside({ before, after }: { before: Run; after: Run }) {
  const rows: [string, (run: Run) => React.ReactNode][] = [
    ["verdict", (run) => <><StateMark state={run.state} /> <Explanation text={run.sentence} /></>],
    ["answer", (run) => <Plain text={run.answer ?? "none"} />],
    ...LAYERS.map((layer): [string, (run: Run) => React.ReactNode] => [
      layer,
      (run) => {
        const outcome = run.layers.find((score) => score.layer === layer)?.outcome;
        return <><Outcome outcome={outcome} /> <span className="dim"><Explanation text={outcome?.explanation ?? ""} /></span></>;
      },
    ]),
  ];
  return (
    <>
      <DataTable
        label="Recorded and edited"
        rows={rows}
        columns={[["", ([name]) => name], ["recorded", ([, show]) => show(before)], ["edited", ([, show]) => show(after)]]}
      />
      {after.steps.map((step) => (
        <Step key={step.number} step={besideRecord(step, before.steps.find((each) => each.number === step.number))} claim={null} chosen={false} />
      ))}
    </>
  );
}

/** Return an edited step with what was recorded of it: the run that is judged has its own outputs on record. */
function besideRecord(step: RunStep, recorded: RunStep | undefined): RunStep {
  const snippets = step.snippets.map((snippet, index) => {
    const before = recorded?.snippets[index];
    const { replayed } = snippet;
    if (!before || !replayed) return snippet;
    const agreed = before.replayed?.agrees === true ? before.replayed : before.recorded;
    return { ...snippet, recorded: before.recorded, replayed: { ...replayed, agrees: textOf(agreed) === textOf(replayed), difference: null } };
  });
  return { ...step, thought: recorded?.thought ?? step.thought, snippets };
}
