// What did agents try? Attempts as the kernel saw them, findings of scanners, and a change of the policy tried on stored code.
import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import type { Schema } from "../api";
import { Cli, DataTable, Empty, Form, Head, Link, Name, nameOfWindow, Plain, RunLink, Sent, Shown, Time, useAnswer, useHours, useSend } from "../parts";
import { addressWith, getParameter } from "../location";

const KINDS: [string, string][] = [["", "everything"], ["network", "hosts"], ["file", "files"], ["process", "processes"], ["privilege", "privileges"]];

export function Boundary() {
  const hours = useHours();
  const kind = getParameter("kind") ?? "";
  const found = useAnswer<Schema["Boundary"]>("boundary", kind ? { hours, kind } : { hours });
  return (
    <>
      <Head title={`What agents tried, last ${nameOfWindow(hours)}`} />
      <div className="links" role="group" aria-label="Kind">
        {KINDS.map(([value, name]) => (
          <Link key={name} href={addressWith({ kind: value || null })} aria-current={value === kind ? "true" : undefined}>{name}</Link>
        ))}
      </div>
      <Shown loaded={found}>
        {(page) => (
          <>
            <h2 className="below">Attempts in replays</h2>
            <DataTable
              label="Attempts"
              rows={page.attempts}
              empty={<Empty title="No replay tried to leave its boundary" />}
              columns={[
                ["target", ({ allowed, kind, target }) => (
                  <><span className={`verdict ${allowed ? "open" : "fail"}`}>{allowed ? "? allowed" : "✗ refused"}</span> <span className="dim">{kind}</span> <Name text={target} /></>
                )],
                ["agent · release", nameAgent],
                ["times", (row) => row.times, "heat"],
                ["latest", showLatest],
              ]}
            />
            <h2 className="below">Findings in code, secrets among them</h2>
            <DataTable
              label="Findings"
              rows={page.findings}
              empty={<Empty title="The scanners found nothing in the code of this window" />}
              columns={[
                ["rule", (row) => <><Verdict verdict={row.verdict} /> <Name text={row.rule} /><div className="dim"><Plain text={row.message} /></div></>],
                ["agent · release", nameAgent],
                ["snippets", (row) => row.snippets, "heat"],
                ["latest", showLatest],
              ]}
            />
          </>
        )}
      </Shown>
      <DryRun hours={hours} />
      <Cli line={`spanproof breakdown attempt --by agent --by release --since ${Math.ceil(Number(hours))}h`} />
    </>
  );
}

type BoundaryRow = Pick<Schema["AttemptRow"], "agent" | "release" | "trace_id" | "last_ns">;

function nameAgent({ agent, release }: BoundaryRow) {
  return [agent, release].filter(Boolean).join(" · ");
}

function showLatest({ trace_id, last_ns }: BoundaryRow) {
  return <><RunLink trace={trace_id} /> <span className="dim"><Time ns={last_ns} relative /></span></>;
}

function Verdict({ verdict }: { verdict: string }) {
  // What the policy allows is no pass of a run: it has no tick.
  const [kind, mark] = { deny: ["fail", "✗"], review: ["open", "?"] }[verdict] ?? ["skipped", "–"];
  return <span className={`verdict ${kind}`}>{mark} {verdict}</span>;
}

function DryRun({ hours }: { hours: string }) {
  const settings = useAnswer<Schema["Settings"]>("settings");
  const sending = useSend();
  const [result, setResult] = useState<Schema["DryRunResult"] | null>(null);
  const run = ({ policy }: Record<string, string>) =>
    sending.run<Schema["DryRunResult"]>("POST", "policy/dry-run", { policy, hours: Number(hours) }, (answer) => {
      setResult(answer);
      const changed = answer.changes.reduce((sum, each) => sum + each.times, 0);
      return `${answer.pieces} pieces of code scanned${answer.left_out ? ", not all" : ""}; ${changed} snippets would be judged otherwise.`;
    });
  return (
    <section className="below">
      <h2>Try a change of the policy on the code of the last {nameOfWindow(hours)}</h2>
      <Form submit={run}>
        <Textarea
          classNames={{ input: "code" }}
          name="policy"
          aria-label="Policy"
          rows={8}
          spellCheck={false}
          key={settings.value?.policy}
          defaultValue={settings.value?.policy || "# the default policy, with changes:\ndenied_modules: [requests]\n"}
        />
        <Button type="submit" disabled={sending.busy}>Dry run</Button>
        <Sent sending={sending} />
      </Form>
      {result ? (
        <>
          <p>
            {["allow", "review", "deny"].map((verdict) => (
              <span key={verdict} className="part"><Verdict verdict={verdict} /> {result.before[verdict] ?? 0} → {result.after[verdict] ?? 0}</span>
            ))}
          </p>
          <DataTable
            label="Changes"
            rows={result.changes}
            empty={<></>}
            columns={[
              ["change", (each) => <><Verdict verdict={each.before} /> → <Verdict verdict={each.after} /><div><RunLink trace={each.trace_id} /></div></>],
              ["times", (each) => each.times, "heat"],
              ["code", (each) => <pre><Plain text={each.source.slice(0, 400)} /></pre>],
              ["why", (each) => each.reasons.map((reason) => <div key={reason}><Plain text={reason} /></div>), "wide"],
            ]}
          />
        </>
      ) : null}
    </section>
  );
}
