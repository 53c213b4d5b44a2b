// What fires, what fired when with the scores behind it, what is silenced, and the rules as they are configured.
import { Button, Table, Textarea, TextInput } from "@mantine/core";
import { Fragment, useState, type FormEvent } from "react";
import type { Schema } from "../api";
import { author, AuthorField, Cli, Empty, Grid, Head, Plain, RunLink, Sent, Shown, Time, useAnswer, useSend } from "../parts";

type Alert = Schema["AlertRow"];

const EXAMPLE = "name: answers that contradict their sources\nlayer: groundedness\nthreshold: 0.1\nwindow_s: 3600\nmin_count: 20\n";

/** A rule as the configuration has it, tried over the last week. */
function RuleTrial() {
  const sending = useSend();
  const [result, setResult] = useState<Schema["RuleTrial"] | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const rule = String(new FormData(event.currentTarget).get("rule"));
    setResult(null);
    sending.run<Schema["RuleTrial"]>("POST", "alerts/trials", { rule, hours: 168 }, (answer) => {
      setResult(answer);
      return `${answer.name}, ${answer.bound}: ${answer.words}`;
    });
  };
  return (
    <form onSubmit={submit}>
      <Textarea name="rule" aria-label="Rule" autosize minRows={5} maxRows={16} classNames={{ input: "code" }} spellCheck={false} defaultValue={EXAMPLE} />
      <Button type="submit" disabled={sending.busy}>Try on the last week</Button>
      <Sent sending={sending} />
      {result?.notifications.length ? (
        <ul className="behind">
          {result.notifications.map((each, index) => <li key={index}><Time ns={each.at_ns} /> {each.status}: <Plain text={each.summary} /></li>)}
        </ul>
      ) : null}
      {result ? <p className="dim">To keep the rule, put it under <code>alerts:</code> of the configuration.</p> : null}
    </form>
  );
}

export function Alerts() {
  const now = useAnswer<Schema["AlertList"]>("alerts");
  const history = useAnswer<Schema["History"]>("alerts/history");
  const reload = () => {
    now.reload?.();
    history.reload?.();
  };
  return (
    <>
      <Head title="Alerts" />
      <Shown loaded={now}>
        {(list) => (
          <>
            {list.alerts.length ? (
              list.alerts.map((alert) => <One key={alert.id + alert.status} alert={alert} reload={reload} />)
            ) : (
              <Empty title="No alert fires">
                <p>
                  {list.rules.length ? (
                    `${list.rules.length} rules are watched.`
                  ) : <>No rule is configured; <code>alerts</code> in the configuration adds them.</>}
                </p>
              </Empty>
            )}
            <div className="columns">
              <section>
                <h2>Rules</h2>
                <Rules rules={list.rules} />
                <h2 className="below">Try a rule</h2>
                <RuleTrial />
              </section>
              <section><h2>Silences</h2><Silences silences={list.silences} reload={reload} /></section>
            </div>
          </>
        )}
      </Shown>
      <h2 className="below">What happened</h2>
      <Shown loaded={history}>
        {(found) =>
          found.events.length ? (
            <Grid label="History" heads={["when", "rule", "state", ["what", "wide"]]}>
              {found.events.map((event, index) => (
                <Table.Tr key={index}>
                  <Table.Td className="dim"><Time ns={event.at_ns} /></Table.Td>
                  <Table.Th scope="row"><Plain text={event.rule} /></Table.Th>
                  <Table.Td><State status={event.status} /></Table.Td>
                  <Table.Td><Plain text={event.summary} /><Behind alert={event} /></Table.Td>
                </Table.Tr>
              ))}
            </Grid>
          ) : <p className="dim">No alert has fired yet.</p>
        }
      </Shown>
      <Cli line="spanproof alerts list --all" />
    </>
  );
}

function State({ status }: { status: string }) {
  const verdict = { firing: "fail", pending: "open", resolved: "pass", inactive: "skipped" }[status] ?? "skipped";
  const mark = { firing: "✗", pending: "?", resolved: "✓", inactive: "–" }[status] ?? "–";
  return <span className={`verdict ${verdict}`}>{mark} {status}</span>;
}

function One({ alert, reload }: { alert: Alert; reload: () => void }) {
  const sending = useSend();
  const matchers = { alertname: alert.rule, ...alert.cohort };
  const acknowledge = () =>
    sending.run<Alert>("POST", `alerts/${alert.id}/acknowledgement`, { author: author() }, (answer) => {
      reload();
      return `Acknowledged by ${answer.acknowledged_by}.`;
    });
  const silence = () =>
    sending.run<Schema["SilenceRow"]>("POST", "silences", { matchers, hours: 2, author: author(), comment: alert.summary }, () => {
      reload();
      return "Silenced for 2 hours.";
    });
  return (
    <section className="card">
      <h2><State status={alert.status} /> <Plain text={alert.summary} /></h2>
      <div className="dim">
        <Plain text={alert.rule} /> · {alert.severity} · <Plain text={alert.threshold} /> · since <Time ns={alert.since_ns} relative />
        {alert.acknowledged_by ? (
          <>
            {" "}
            · acknowledged by <Plain text={alert.acknowledged_by} />
          </>
        ) : null}
        {alert.undelivered.map((each, index) => (
          <Fragment key={index}>
            {" "}
            · <Plain text={each} />
          </Fragment>
        ))}
      </div>
      {alert.first_summary && alert.first_summary !== alert.summary ? (
        <p className="dim">It began to fire with: <Plain text={alert.first_summary} /></p>
      ) : null}
      <Behind alert={alert} />
      <div className="badges">
        {alert.status === "firing" && !alert.acknowledged_by ? <Button onClick={acknowledge}>acknowledge</Button> : null}
        <Button onClick={silence}>silence for 2 h</Button>
      </div>
      <Sent sending={sending} />
    </section>
  );
}

function Behind({ alert }: { alert: Alert }) {
  if (!alert.scores.length && !alert.failures.length) return null;
  return (
    <ul className="behind">
      {alert.failures.map((each, index) => <li key={index}><Plain text={each.text} /> <span className="dim">{each.count} times</span></li>)}
      {alert.scores.slice(0, 5).map((each, index) => (
        <li key={index}><RunLink trace={each.trace_id} run={each.run_span_id} /> <Plain text={each.explanation} /></li>
      ))}
    </ul>
  );
}

function Rules({ rules }: { rules: Schema["AlertRule"][] }) {
  if (!rules.length) return <p className="dim">This console has no configuration with rules.</p>;
  return (
    <Grid label="Rules" heads={["rule", "score", "measure", ["threshold", "heat"], "by", "notifies"]}>
      {rules.map((rule, index) => (
        <Table.Tr key={index}>
          <Table.Th scope="row"><Plain text={rule.name} /></Table.Th>
          <Table.Td>{rule.metric}</Table.Td>
          <Table.Td>{rule.measure.replaceAll("_", " ")} of {rule.window}, n ≥ {rule.min_count}</Table.Td>
          <Table.Td className="heat"><Plain text={rule.bound} /></Table.Td>
          <Table.Td>{rule.group_by.join(", ") || "–"}</Table.Td>
          <Table.Td>{rule.notify.join(", ") || "–"}</Table.Td>
        </Table.Tr>
      ))}
    </Grid>
  );
}

function Silences({ silences, reload }: { silences: Schema["SilenceRow"][]; reload: () => void }) {
  const sending = useSend();
  const [text, setText] = useState("");
  const begin = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const matchers = Object.fromEntries(
      text
        .split(/[\s,]+/)
        .filter(Boolean)
        .map((each) => [each.split("=")[0]!, each.slice(each.indexOf("=") + 1)]),
    );
    const body = { matchers, hours: Number(form.get("hours")), author: author(), comment: String(form.get("comment")) };
    sending.run("POST", "silences", body, () => {
      reload();
      return "It is silenced.";
    });
  };
  const end = (id: string) =>
    sending.run("DELETE", `silences/${id}`, undefined, () => {
      reload();
      return "The silence has ended.";
    });
  return (
    <>
      {silences.length ? (
        <ul className="behind">
          {silences.map((each, index) => (
            <li key={index}>
              <code>
                <Plain text={Object.entries(each.matchers).map(([name, value]) => `${name}=${value}`).join(", ")} />
              </code>{" "}
              until <Time ns={each.ends_ns} />, <Plain text={`${each.author}${each.comment ? `: ${each.comment}` : ""}`} />{" "}
              <Button onClick={() => end(each.id)}>end it</Button>
            </li>
          ))}
        </ul>
      ) : <p className="dim">None is in force.</p>}
      <form className="fields" onSubmit={begin}>
        <TextInput
          label="matchers"
          placeholder="agent=check* layer=boundary"
          required
          withAsterisk={false}
          pattern="\s*[^=\s]+=\S*(\s+[^=\s]+=\S*)*\s*"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <TextInput label="hours" name="hours" type="number" min="0.1" max="2160" step="any" defaultValue="2" />
        <TextInput label="why" name="comment" />
        <AuthorField />
        <Button type="submit" disabled={sending.busy}>Silence</Button>
      </form>
      <Sent sending={sending} />
    </>
  );
}
