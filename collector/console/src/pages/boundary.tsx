// What did agents try? Attempts as the kernel saw them, findings of scanners, and a change of the policy tried on stored code.
import { Button, Table, Textarea } from "@mantine/core";
import { useState, type FormEvent } from "react";
import type { Schema } from "../api";
import { Cli, Empty, Grid, Head, Link, nameOfWindow, Plain, RunLink, Sent, Shown, Time, useAnswer, useHours, useSend } from "../parts";
import { addressWith, here } from "../location";

const KINDS: [string, string][] = [["", "everything"], ["network", "hosts"], ["file", "files"], ["process", "processes"], ["privilege", "privileges"]];

export function Boundary() {
  const hours = useHours();
  const kind = here().searchParams.get("kind") ?? "";
  const found = useAnswer<Schema["Boundary"]>("boundary", kind ? { hours, kind } : { hours });
  return (
    <>
      <Head title={`What agents tried, last ${nameOfWindow(hours)}`} />
      <div className="links" role="group" aria-label="Kind">
        {KINDS.map(([value, name], index) => (
          <Link key={index} href={addressWith({ kind: value || null })} aria-current={value === kind ? "true" : undefined}>{name}</Link>
        ))}
      </div>
      <Shown loaded={found}>
        {(page) => (
          <div className="columns even">
            <section><h2>Attempts in replays</h2><Attempts rows={page.attempts} /></section>
            <section><h2>Findings in code, secrets among them</h2><Findings rows={page.findings} /></section>
          </div>
        )}
      </Shown>
      <DryRun hours={hours} />
      <Cli line={`spanproof breakdown attempt --by agent --by release --since ${Math.ceil(Number(hours))}h`} />
    </>
  );
}

function Attempts({ rows }: { rows: Schema["AttemptRow"][] }) {
  if (!rows.length) return <Empty title="No program tried to leave its boundary" />;
  return (
    <Grid label="Attempts" heads={["target", "agent · release", ["times", "heat"], "latest"]}>
      {rows.map((row, index) => (
        <Table.Tr key={index}>
          <Table.Th scope="row">
            <span className={`verdict ${row.allowed ? "open" : "fail"}`}>{row.allowed ? "? allowed" : "✗ refused"}</span> <span className="dim">{row.kind}</span>{" "}
            <code><Plain text={row.target} /></code>
          </Table.Th>
          <Table.Td><Plain text={[row.agent, row.release].filter(Boolean).join(" · ")} /></Table.Td>
          <Table.Td className="heat">{row.times}</Table.Td>
          <Table.Td><RunLink trace={row.trace_id} /> <span className="dim"><Time ns={row.last_ns} relative /></span></Table.Td>
        </Table.Tr>
      ))}
    </Grid>
  );
}

function Findings({ rows }: { rows: Schema["FindingRow"][] }) {
  if (!rows.length) return <Empty title="The scanners found nothing" />;
  return (
    <Grid label="Findings" heads={["rule", "agent · release", ["snippets", "heat"], "latest"]}>
      {rows.map((row, index) => (
        <Table.Tr key={index}>
          <Table.Th scope="row">
            <Verdict verdict={row.verdict} /> <code>{row.rule}</code>
            <div className="dim"><Plain text={row.message} /></div>
          </Table.Th>
          <Table.Td><Plain text={[row.agent, row.release].filter(Boolean).join(" · ")} /></Table.Td>
          <Table.Td className="heat">{row.snippets}</Table.Td>
          <Table.Td><RunLink trace={row.trace_id} /> <span className="dim"><Time ns={row.last_ns} relative /></span></Table.Td>
        </Table.Tr>
      ))}
    </Grid>
  );
}

function Verdict({ verdict }: { verdict: string }) {
  const [kind, mark] = { deny: ["fail", "✗"], review: ["open", "?"], allow: ["pass", "✓"] }[verdict] ?? ["skipped", "–"];
  return <span className={`verdict ${kind}`}>{mark} {verdict}</span>;
}

function DryRun({ hours }: { hours: string }) {
  const settings = useAnswer<Schema["Settings"]>("settings");
  const sending = useSend();
  const [result, setResult] = useState<Schema["DryRunResult"] | null>(null);
  const run = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const policy = String(new FormData(event.currentTarget).get("policy"));
    sending.run<Schema["DryRunResult"]>("POST", "policy/dry-run", { policy, hours: Number(hours) }, (answer) => {
      setResult(answer);
      const changed = answer.changes.reduce((sum, each) => sum + each.times, 0);
      return `${answer.pieces} pieces of code scanned${answer.left_out ? ", not all" : ""}; ${changed} snippets would be judged otherwise.`;
    });
  };
  return (
    <section className="below">
      <h2>Try a change of the policy on the code of the last {nameOfWindow(hours)}</h2>
      <form onSubmit={run}>
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
      </form>
      {result ? (
        <>
          <p>
            {["allow", "review", "deny"].map((verdict, index) => (
              <span key={index} className="part">
                <Verdict verdict={verdict} /> {result.before[verdict] ?? 0} → {result.after[verdict] ?? 0}
              </span>
            ))}
          </p>
          {result.changes.length ? (
            <Grid label="Changes" heads={["change", ["times", "heat"], "code", ["why", "wide"]]}>
              {result.changes.map((each, index) => (
                <Table.Tr key={index}>
                  <Table.Th scope="row">
                    <Verdict verdict={each.before} /> → <Verdict verdict={each.after} />
                    <div><RunLink trace={each.trace_id} /></div>
                  </Table.Th>
                  <Table.Td className="heat">{each.times}</Table.Td>
                  <Table.Td><pre><Plain text={each.source.slice(0, 400)} /></pre></Table.Td>
                  <Table.Td>{each.reasons.map((reason, index) => <div key={index}><Plain text={reason} /></div>)}</Table.Td>
                </Table.Tr>
              ))}
            </Grid>
          ) : null}
        </>
      ) : null}
    </section>
  );
}
