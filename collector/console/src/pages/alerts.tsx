// What fires, what fired when with the scores behind it, what is silenced, rules, and what targets got.
import { Button, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Schema, State } from "../api";
import { author, AuthorField, Cli, DataTable, Empty, Form, Head, Items, Link, pathOf, Plain, Problem, request, RunLink, Sent, Shown, Time, useAnswer, useSend } from "../parts";
import { StateMark } from "../state";

type Alert = Schema["AlertRow"];
type MadeRule = Schema["MadeRuleRow"];

const EXAMPLE = "name: answers that contradict their sources\nlayer: groundedness\nthreshold: 0.1\nwindow_s: 3600\nmin_count: 20\nnotify: []\n";

export function Alerts() {
  const now = useAnswer<Schema["AlertList"]>("alerts");
  const history = useAnswer<Schema["History"]>("alerts/history");
  const [text, setText] = useState(EXAMPLE);
  const reload = () => [now, history].forEach((each) => each.reload());
  return (
    <>
      <Head title="Alerts"><span className="fields"><Link href="/alerts/deliveries">Deliveries</Link><AuthorField /></span></Head>
      <Shown loaded={now}>
        {(list) => (
          <>
            <LeftOut count={list.left_out} of="alerts" />
            {list.alerts.length ? list.alerts.map((alert) => <One key={alert.id + alert.status} alert={alert} reload={reload} />) : (
              <Empty title="No alert fires">
                <p>{list.rules.length ? `${list.rules.length} ${list.rules.length === 1 ? "rule is" : "rules are"} watched.` : "No rule is watched: make one below, or in the configuration."}</p>
              </Empty>
            )}
            <div className="columns">
              <section>
                <h2>Rules</h2>
                <Rules list={list} edit={setText} reload={reload} />
                <h2 className="below">Make a rule</h2>
                <RuleEditor targets={list.targets} text={text} setText={setText} reload={reload} />
              </section>
              <section><h2>Silences</h2><Silences silences={list.silences} reload={reload} /></section>
            </div>
          </>
        )}
      </Shown>
      <h2 className="below">What happened</h2>
      <Shown loaded={history}>
        {(found) => (
          <>
            <LeftOut count={found.left_out} of="events" />
            <DataTable
              label="History"
              rows={found.events}
              empty="No alert has fired yet."
              columns={[
                ["rule", (event) => event.rule],
                ["when", (event) => <Time ns={event.at_ns} />, "dim"],
                ["state", (event) => <AlertState status={event.status} />],
                ["what", (event) => <><Plain text={event.summary} /><Behind alert={event} /></>, "wide"],
              ]}
            />
          </>
        )}
      </Shown>
      <Cli line="spanproof alerts list --all" />
    </>
  );
}

/** How many entries of a list are in a form that only another version knows. */
function LeftOut({ count, of }: { count: number; of: string }) {
  return count ? <Problem text={`${count} ${of} are left out: this version cannot read them`} /> : null;
}

interface EditorParts {
  targets: string[];
  /** The text that is edited. */
  text: string;
  setText: (text: string) => void;
  reload: () => void;
}

/** A rule in YAML: tried over the last week, and kept. */
function RuleEditor({ targets, text, setText, reload }: EditorParts) {
  const sending = useSend();
  const [trial, setTrial] = useState<Schema["RuleTrial"] | null>(null);
  const attempt = () => {
    setTrial(null);
    sending.run<Schema["RuleTrial"]>("POST", "alerts/trials", { rule: text, hours: 168 }, (answer) => {
      setTrial(answer);
      return `${answer.name}, ${answer.bound}: ${answer.words}`;
    });
  };
  const keep = () =>
    sending.run<MadeRule>("POST", "alerts/rules", { rule: text, author: author() }, (answer) => {
      reload();
      return `${answer.name} is watched from now on.`;
    });
  return (
    <Form submit={attempt}>
      <Textarea
        label="A rule, with the keys of alerts in the configuration"
        description={targets.length ? `notify takes names of targets: ${targets.join(", ")}` : "No target is configured that notify could name."}
        autosize
        minRows={6}
        maxRows={16}
        classNames={{ input: "code" }}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div className="badges">
        <Button type="submit" disabled={sending.busy}>Try on the last week</Button>
        <Button variant="filled" disabled={sending.busy} onClick={keep}>Keep the rule</Button>
      </div>
      <Sent sending={sending} />
      <Items items={(trial?.notifications ?? []).map((each) => <><Time ns={each.at_ns} /> {each.status}: <Plain text={each.summary} /></>)} />
    </Form>
  );
}

const ALERT_STATES: Record<string, State> = { firing: "fail", pending: "open" };

function AlertState({ status }: { status: string }) {
  return <StateMark state={ALERT_STATES[status] ?? "skipped"} text={status} />;
}

function One({ alert, reload }: { alert: Alert; reload: () => void }) {
  const sending = useSend(reload);
  const matchers = { alertname: alert.rule, ...alert.cohort };
  const acknowledge = () =>
    sending.run<Alert>("POST", `alerts/${alert.id}/acknowledgement`, { author: author() }, (answer) => `Acknowledged by ${answer.acknowledged_by}.`);
  const silence = () => sending.run("POST", "silences", { matchers, hours: 2, author: author(), comment: alert.summary }, () => "Silenced for 2 hours.");
  const more = [alert.acknowledged_by ? `acknowledged by ${alert.acknowledged_by}` : "", ...alert.undelivered].filter(Boolean);
  return (
    <section className="card">
      <h2><AlertState status={alert.status} /> <Plain text={alert.summary} /></h2>
      <div className="dim">
        <Plain text={alert.rule} /> · {alert.severity} · <Plain text={alert.threshold} /> · since <Time ns={alert.since_ns} relative />
        <Plain text={more.map((each) => ` · ${each}`).join("")} />
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
  const failures = alert.failures.map((each) => <><Plain text={each.text} /> <span className="dim">{each.count} times</span></>);
  const scores = alert.scores.slice(0, 5).map((each) => <><RunLink trace={each.trace_id} run={each.run_span_id} /> <Plain text={each.explanation} /></>);
  return <Items items={[...failures, ...scores]} />;
}

function Rules({ list: { rules, made }, edit, reload }: { list: Schema["AlertList"]; edit: (text: string) => void; reload: () => void }) {
  const sending = useSend(reload);
  if (!rules.length && !made.length) return <p className="dim">There is none, in the configuration or made here.</p>;
  const remove = (name: string) =>
    sending.run<MadeRule>("DELETE", `alerts/rules/${pathOf(name)}`, undefined, (answer) => `${answer.name} is removed; its alerts end.`);
  // Who made a rule, and the buttons to change it.
  const madeBy = (rule: MadeRule) => (
    <span className="inline">
      <Plain text={rule.author} />
      <Button size="compact-xs" aria-label={`edit ${rule.name}`} onClick={() => edit(rule.text)}>edit</Button>
      <Button size="compact-xs" aria-label={`remove ${rule.name}`} onClick={() => remove(rule.name)}>remove</Button>
    </span>
  );
  return (
    <>
      <DataTable
        label="Rules"
        rows={rules}
        columns={[
          ["rule", (rule) => rule.name],
          ["measure", (rule) => <>{rule.metric}<div className="dim">{rule.measure.replaceAll("_", " ")} of {rule.window}, n ≥ {rule.min_count}</div></>],
          ["bound", (rule) => rule.bound],
          ["by", (rule) => rule.group_by.join(", ") || "–"],
          ["notifies", (rule) => rule.notify.join(", ") || "–"],
          ["made by", (rule) => {
            const own = made.find((each) => each.name === rule.name && rule.made_by);
            return own ? madeBy(own) : <span className="dim">the configuration</span>;
          }],
        ]}
      />
      {made.filter((each) => each.problem).map((each) => (
        <div key={each.name} className="problem"><Plain text={`${each.name} is not watched: ${each.problem}`} /> {madeBy(each)}</div>
      ))}
      <Sent sending={sending} />
    </>
  );
}

/** How far each notification got at each target, with the error of the last attempt. */
export function Deliveries() {
  const found = useAnswer<Schema["DeliveryList"]>("alerts/deliveries");
  return (
    <>
      <div className="crumbs"><Link href="/alerts">Alerts</Link> / deliveries</div>
      <Head title="Deliveries" />
      <Shown loaded={found}>
        {({ deliveries }) => (
          <DataTable
            label="Deliveries"
            rows={deliveries}
            empty={<Empty title="No notification was sent yet"><p>One is sent to each target under <code>notify</code> of a rule when its alert fires. <Link href="/alerts">Rules</Link></p></Empty>}
            columns={[
              ["rule", (each) => each.rule],
              ["when", (each) => <Time ns={each.at_ns} />, "dim"],
              ["target", (each) => each.target],
              ["state", (each) => <StateMark state={each.mark} text={each.words} />],
              ["attempts", (each) => each.attempts, "heat"],
              ["error and next try", (each) => each.error || "–", "wide"],
            ]}
          />
        )}
      </Shown>
      <Cli line={request("alerts/deliveries")} />
    </>
  );
}

function Silences({ silences, reload }: { silences: Schema["SilenceRow"][]; reload: () => void }) {
  const sending = useSend(reload);
  const [text, setText] = useState("");
  const begin = ({ hours, comment }: Record<string, string>) => {
    const words = text.split(/[\s,]+/).filter(Boolean);
    const matchers = Object.fromEntries(words.map((each) => each.split(/=(.*)/s).slice(0, 2)));
    sending.run("POST", "silences", { matchers, hours: Number(hours), author: author(), comment }, () => "It is silenced.");
  };
  const end = (id: string) => sending.run("DELETE", `silences/${id}`, undefined, () => "The silence has ended.");
  return (
    <>
      {silences.length ? (
        <Items
          items={silences.map((each) => (
            <>
              <code><Plain text={Object.entries(each.matchers).map(([name, value]) => `${name}=${value}`).join(", ")} /></code>{" "}
              until <Time ns={each.ends_ns} />, <Plain text={`${each.author}${each.comment ? `: ${each.comment}` : ""}`} />{" "}
              <Button onClick={() => end(each.id)}>end it</Button>
            </>
          ))}
        />
      ) : <p className="dim">None is in force.</p>}
      <Form className="fields" submit={begin}>
        <TextInput
          label="matchers"
          placeholder="agent=check* layer=boundary"
          required
          pattern="\s*[^=\s]+=\S*(\s+[^=\s]+=\S*)*\s*"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <TextInput label="hours" name="hours" type="number" min="0.1" max="2160" step="any" defaultValue="2" />
        <TextInput label="why" name="comment" />
        <Button type="submit" disabled={sending.busy}>Silence</Button>
      </Form>
      <Sent sending={sending} />
    </>
  );
}
