// What did agents try? Attempts as the kernel saw them, findings of scanners, and a change of the policy tried on stored code.
import { useState } from "preact/hooks";
import type { Schema } from "../api";
import { addressWith, ago, Cli, Empty, Grid, Head, nameOfWindow, Plain, RunLink, Sent, Shown, useAnswer, useHours, useSend } from "../parts";
import { location } from "../router";

const KINDS: [string, string][] = [["", "everything"], ["network", "hosts"], ["file", "files"], ["process", "processes"], ["privilege", "privileges"]];

export function Boundary() {
  const hours = useHours("168");
  const kind = location.value.searchParams.get("kind") ?? "";
  const found = useAnswer<Schema["Boundary"]>("boundary", kind ? { hours, kind } : { hours });
  return (
    <>
      <Head title={`What agents tried, last ${nameOfWindow(hours)}`} hours={hours} />
      <div class="links" role="group" aria-label="Kind">
        {KINDS.map(([value, name]) => (
          <a href={addressWith({ kind: value || null })} aria-current={value === kind ? "true" : undefined}>
            {name}
          </a>
        ))}
      </div>
      <Shown loaded={found}>
        {(page) => (
          <div class="columns even">
            <section>
              <h2>Attempts in replays</h2>
              <Attempts rows={page.attempts} />
            </section>
            <section>
              <h2>Findings in code, secrets among them</h2>
              <Findings rows={page.findings} />
            </section>
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
      {rows.map((row) => (
        <tr>
          <th scope="row">
            <span class={`verdict ${row.allowed ? "open" : "fail"}`}>{row.allowed ? "? allowed" : "✗ refused"}</span> <span class="dim">{row.kind}</span>{" "}
            <code>
              <Plain text={row.target} />
            </code>
          </th>
          <td>
            <Plain text={[row.agent, row.release].filter(Boolean).join(" · ")} />
          </td>
          <td class="heat">{row.times}</td>
          <td>
            <RunLink trace={row.trace_id} /> <span class="dim">{ago(row.last_ns)}</span>
          </td>
        </tr>
      ))}
    </Grid>
  );
}

function Findings({ rows }: { rows: Schema["FindingRow"][] }) {
  if (!rows.length) return <Empty title="The scanners found nothing" />;
  return (
    <Grid label="Findings" heads={["rule", "agent · release", ["snippets", "heat"], "latest"]}>
      {rows.map((row) => (
        <tr>
          <th scope="row">
            <Verdict verdict={row.verdict} /> <code>{row.rule}</code>
            <div class="dim">
              <Plain text={row.message} />
            </div>
          </th>
          <td>
            <Plain text={[row.agent, row.release].filter(Boolean).join(" · ")} />
          </td>
          <td class="heat">{row.snippets}</td>
          <td>
            <RunLink trace={row.trace_id} /> <span class="dim">{ago(row.last_ns)}</span>
          </td>
        </tr>
      ))}
    </Grid>
  );
}

function Verdict({ verdict }: { verdict: string }) {
  const [kind, mark] = { deny: ["fail", "✗"], review: ["open", "?"], allow: ["pass", "✓"] }[verdict] ?? ["skipped", "–"];
  return (
    <span class={`verdict ${kind}`}>
      {mark} {verdict}
    </span>
  );
}

function DryRun({ hours }: { hours: string }) {
  const settings = useAnswer<Schema["Settings"]>("settings");
  const sending = useSend();
  const [result, setResult] = useState<Schema["DryRunResult"] | null>(null);
  const run = (event: Event) => {
    event.preventDefault();
    const policy = String(new FormData(event.target as HTMLFormElement).get("policy"));
    sending.run<Schema["DryRunResult"]>("POST", "policy/dry-run", { policy, hours: Number(hours) }, (answer) => {
      setResult(answer);
      const changed = answer.changes.reduce((sum, each) => sum + each.times, 0);
      return `${answer.pieces} pieces of code scanned${answer.left_out ? ", not all" : ""}; ${changed} snippets would be judged otherwise.`;
    });
  };
  return (
    <section class="below">
      <h2>Try a change of the policy on the code of the last {nameOfWindow(hours)}</h2>
      <form onSubmit={run}>
        <textarea
          name="policy"
          aria-label="Policy"
          rows={8}
          spellcheck={false}
          key={settings.value?.policy}
          defaultValue={settings.value?.policy || "# the default policy, with changes:\ndenied_modules: [requests]\n"}
        />
        <button type="submit" disabled={sending.busy}>
          Dry run
        </button>
        <Sent sending={sending} />
      </form>
      {result ? (
        <>
          <p>
            {["allow", "review", "deny"].map((verdict) => (
              <span class="part">
                <Verdict verdict={verdict} /> {result.before[verdict] ?? 0} → {result.after[verdict] ?? 0}
              </span>
            ))}
          </p>
          {result.changes.length ? (
            <Grid label="Changes" heads={["change", ["times", "heat"], "code", ["why", "wide"]]}>
              {result.changes.map((each) => (
                <tr>
                  <th scope="row">
                    <Verdict verdict={each.before} /> → <Verdict verdict={each.after} />
                    <div>
                      <RunLink trace={each.trace_id} />
                    </div>
                  </th>
                  <td class="heat">{each.times}</td>
                  <td>
                    <pre>
                      <Plain text={each.source.slice(0, 400)} />
                    </pre>
                  </td>
                  <td>
                    {each.reasons.map((reason) => (
                      <div>
                        <Plain text={reason} />
                      </div>
                    ))}
                  </td>
                </tr>
              ))}
            </Grid>
          ) : null}
        </>
      ) : null}
    </section>
  );
}
