// The code and the results of tools of a run as fields that a person edits.
import { Button } from "@mantine/core";
import { Fragment, useState, type ReactNode } from "react";
import type { Schema } from "./api";
import { Cli, Form, Plain, Problem, request, Sent, useSend } from "./parts";

interface FormParts<T> {
  code: Schema["EditableCode"][];
  calls: Schema["EditableCall"][];
  /** Where edits are sent, with what else belongs to them. */
  path: string;
  body?: (fields: Record<string, string>) => object;
  /** Shows the answer, and returns what is said of it. */
  onDone: (answer: T, fields: Record<string, string>) => string;
  /** More fields, before the button. */
  children?: ReactNode;
}

/** Edits: code by the id of its snippet, results of tools by the number of their call. */
export function EditForm<T>({ code, calls, path, body, onDone, children }: FormParts<T>) {
  const [fault, setFault] = useState<string | null>(null);
  const sending = useSend();
  const submit = (fields: Record<string, string>) => {
    const sources: Record<string, string> = {};
    const results: Record<string, unknown> = {};
    for (const each of code) {
      const text = fields[`code ${each.id}`]?.replaceAll("\r\n", "\n");
      if (text !== undefined && text !== each.source) sources[each.id] = text;
    }
    for (const each of calls) {
      const text = fields[`call ${each.number}`];
      if (text === undefined || text === each.result) continue;
      try {
        results[each.number] = JSON.parse(text);
      } catch {
        setFault(`The result of call ${each.number + 1} of ${each.tool} is not JSON; write text in quotes, "like this".`);
        return;
      }
    }
    setFault(null);
    const count = Object.keys(sources).length + Object.keys(results).length;
    const edits = count === 0 ? "As it was" : count === 1 ? "With 1 edit" : `With ${count} edits`;
    sending.run<T>("POST", path, { sources, results, ...body?.(fields) }, (answer) => `${edits}: ${onDone(answer, fields)}`);
  };
  const steps = [...new Set([...code, ...calls].map((each) => each.step))].sort((a, b) => a - b);
  return (
    <>
      <Form submit={submit} className="whatif">
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
      </Form>
      <Cli line={`${request(path)} -H 'content-type: application/json' -d '{"sources": {}, "results": {}}'`} />
    </>
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
