// The code and the results of tools of a run as fields that a person edits.
import { Button } from "@mantine/core";
import { Fragment, useState, type FormEvent, type ReactNode } from "react";
import type { Schema } from "./api";
import { Plain, Problem, Sent, type Sending } from "./parts";

/** What is changed: code by the id of its snippet, results of tools by the number of their call. */
export interface Edits {
  sources: Record<string, string>;
  results: Record<string, unknown>;
}

export function describeEdits({ sources, results }: Edits): string {
  const count = Object.keys(sources).length + Object.keys(results).length;
  return count === 0 ? "As it was" : count === 1 ? "With 1 edit" : `With ${count} edits`;
}

interface FormParts {
  code: Schema["EditableCode"][];
  calls: Schema["EditableCall"][];
  sending: Sending;
  run: (edits: Edits, form: FormData) => void;
  /** More fields, before the button. */
  children?: ReactNode;
}

export function EditForm({ code, calls, sending, run, children }: FormParts) {
  const [fault, setFault] = useState<string | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const edits: Edits = { sources: {}, results: {} };
    for (const each of code) {
      const text = form.get(`code ${each.id}`) === null ? each.source : String(form.get(`code ${each.id}`)).replaceAll("\r\n", "\n");
      if (text !== null && text !== each.source) edits.sources[each.id] = text;
    }
    for (const each of calls) {
      const text = form.get(`call ${each.number}`);
      if (text === null || String(text) === each.result) continue;
      try {
        edits.results[each.number] = JSON.parse(String(text));
      } catch {
        setFault(`The result of call ${each.number + 1} of ${each.tool} is not JSON; write text in quotes, "like this".`);
        return;
      }
    }
    setFault(null);
    run(edits, form);
  };
  const steps = [...new Set([...code, ...calls].map((each) => each.step))].sort((a, b) => a - b);
  return (
    <form onSubmit={submit} className="whatif">
      {steps.map((step) => (
        <Fragment key={step}>
          {code.filter((each) => each.step === step).map((each) => (
            <Field key={each.id} name={`code ${each.id}`} text={each.source} rows={16}>step {step}, {each.language}</Field>
          ))}
          {calls.filter((each) => each.step === step).map((each) => (
            <Field key={each.number} name={`call ${each.number}`} text={each.result} rows={8}>
              step {step}: <code><Plain text={`${each.tool}(${each.arguments})`} /></code> returns
            </Field>
          ))}
        </Fragment>
      ))}
      <div className="stack">
        {children}
        <Button type="submit" variant="filled" disabled={sending.busy}>Run</Button>
        <Button type="reset">Undo edits</Button>
        {fault ? <Problem text={fault} /> : <Sent sending={sending} />}
      </div>
    </form>
  );
}

const COLUMNS = 100;

function Field({ name, text, rows, children }: { name: string; text: string | null | undefined; rows: number; children: ReactNode }) {
  const needed = (text ?? "").split("\n").reduce((sum, line) => sum + 1 + Math.floor(line.length / COLUMNS), 0);
  return (
    <label className={name.startsWith("call") ? "within" : undefined}>
      <span>{children}</span>
      {text == null ? <span className="dim"> cannot be edited here: it is long, or holds a secret</span> : (
        <textarea className="code" name={name} rows={Math.min(rows, needed)} spellCheck={false} defaultValue={text} />
      )}
    </label>
  );
}
