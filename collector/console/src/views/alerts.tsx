// What fires, what fired when with the scores behind it, what is silenced, and the rules as they are configured.
import { useState } from "preact/hooks";
import type { Schema } from "../api";
import { ago, author, AuthorField, Cli, Empty, formatTime, Grid, Head, percent, Plain, RunLink, Sent, Shown, useAnswer, useSend } from "../parts";

type Alert = Schema["AlertRow"];

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
                  ) : (
                    <>
                      No rule is configured; <code>alerts</code> in the configuration adds them.
                    </>
                  )}
                </p>
              </Empty>
            )}
            <div class="columns">
              <section>
                <h2>Rules</h2>
                <Rules rules={list.rules} />
              </section>
              <section>
                <h2>Silences</h2>
                <Silences silences={list.silences} reload={reload} />
              </section>
            </div>
          </>
        )}
      </Shown>
      <h2 class="below">What happened</h2>
      <Shown loaded={history}>
        {(found) =>
          found.events.length ? (
            <Grid label="History" heads={["when (UTC)", "rule", "state", ["what", "wide"]]}>
              {found.events.map((event) => (
                <tr>
                  <td class="dim">{formatTime(event.at_ns)}</td>
                  <th scope="row">
                    <Plain text={event.rule} />
                  </th>
                  <td>
                    <State status={event.status} />
                  </td>
                  <td>
                    <Plain text={event.summary} />
                    <Behind alert={event} />
                  </td>
                </tr>
              ))}
            </Grid>
          ) : (
            <p class="dim">No alert has fired yet.</p>
          )
        }
      </Shown>
      <Cli line="spanproof alerts list --all" />
    </>
  );
}

function State({ status }: { status: string }) {
  const verdict = { firing: "fail", pending: "open", resolved: "pass", inactive: "skipped" }[status] ?? "skipped";
  const mark = { firing: "✗", pending: "?", resolved: "✓", inactive: "–" }[status] ?? "–";
  return (
    <span class={`verdict ${verdict}`}>
      {mark} {status}
    </span>
  );
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
    <section class="card">
      <h2>
        <State status={alert.status} /> <Plain text={alert.summary} />
      </h2>
      <div class="dim">
        <Plain text={alert.rule} /> · {alert.severity} · <Plain text={alert.threshold} /> · since {ago(alert.since_ns)}
        {alert.acknowledged_by ? (
          <>
            {" "}
            · acknowledged by <Plain text={alert.acknowledged_by} />
          </>
        ) : null}
        {alert.undelivered.map((each) => (
          <>
            {" "}
            · <Plain text={each} />
          </>
        ))}
      </div>
      <Behind alert={alert} />
      <div class="badges">
        {alert.status === "firing" && !alert.acknowledged_by ? (
          <button type="button" onClick={acknowledge}>
            acknowledge
          </button>
        ) : null}
        <button type="button" onClick={silence}>
          silence for 2 h
        </button>
      </div>
      <Sent sending={sending} />
    </section>
  );
}

function Behind({ alert }: { alert: Alert }) {
  if (!alert.scores.length && !alert.failures.length) return null;
  return (
    <ul class="behind">
      {alert.failures.map((each) => (
        <li>
          <Plain text={each.text} /> <span class="dim">{each.count} times</span>
        </li>
      ))}
      {alert.scores.slice(0, 5).map((each) => (
        <li>
          <RunLink trace={each.trace_id} run={each.run_span_id} /> <Plain text={each.explanation} />
        </li>
      ))}
    </ul>
  );
}

function Rules({ rules }: { rules: Schema["AlertRule"][] }) {
  if (!rules.length) return <p class="dim">This console has no configuration with rules.</p>;
  return (
    <Grid label="Rules" heads={["rule", "score", "measure", ["threshold", "heat"], "by", "notifies"]}>
      {rules.map((rule) => (
        <tr>
          <th scope="row">
            <Plain text={rule.name} />
          </th>
          <td>{rule.metric}</td>
          <td>
            {rule.measure.replaceAll("_", " ")}, {rule.window_s / 60} min, n ≥ {rule.min_count}
          </td>
          <td class="heat">{rule.measure.includes("rate") ? percent(rule.threshold) : rule.threshold}</td>
          <td>{rule.group_by.join(", ") || "–"}</td>
          <td>{rule.notify.join(", ") || "–"}</td>
        </tr>
      ))}
    </Grid>
  );
}

function Silences({ silences, reload }: { silences: Schema["SilenceRow"][]; reload: () => void }) {
  const sending = useSend();
  const [text, setText] = useState("");
  const begin = (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
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
        <ul class="behind">
          {silences.map((each) => (
            <li>
              <code>
                <Plain text={Object.entries(each.matchers).map(([name, value]) => `${name}=${value}`).join(", ")} />
              </code>{" "}
              until {formatTime(each.ends_ns)}, <Plain text={`${each.author}${each.comment ? `: ${each.comment}` : ""}`} />{" "}
              <button type="button" onClick={() => end(each.id)}>
                end it
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <p class="dim">None is in force.</p>
      )}
      <form class="stack" onSubmit={begin}>
        <label>
          matchers{" "}
          <input placeholder="agent=check* layer=boundary" required pattern="\s*[^=\s]+=\S*(\s+[^=\s]+=\S*)*\s*" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <label>
          hours <input name="hours" type="number" min="0.1" max="2160" step="any" defaultValue="2" />
        </label>
        <label>
          why <input name="comment" />
        </label>
        <AuthorField />
        <button type="submit" disabled={sending.busy}>
          Silence
        </button>
      </form>
      <Sent sending={sending} />
    </>
  );
}
