// How this installation is set up, and how to send the first trace.
import { useEffect, useState } from "react";
import { follow, type Schema } from "../api";
import { Cli, DataTable, Head, Link, Plain, Properties, Shown, useAnswer } from "../parts";
import { go, traceAddress } from "../location";
import { StateMark } from "../state";

export function Settings() {
  const found = useAnswer<Schema["Settings"]>("settings");
  const doctor = useAnswer<Schema["Doctor"]>("doctor");
  const health = useAnswer<Schema["Health"]>("health");
  return (
    <>
      <Head title="Settings" />
      <Shown loaded={found}>
        {(page) => (
          <>
            <Properties
              rows={[
                ["version", page.version],
                ["store", <Plain text={page.store} />],
                ["workspace", <Plain text={page.workspace || "none"} />],
                ["tokens", `${page.readers} for reading, ${page.writers} for writing; you may ${page.may_write ? "write" : "read"}`],
              ]}
            />
            {page.tokens.length ? (
              <DataTable
                label="Tokens"
                rows={page.tokens}
                columns={[
                  ["token", (each) => (each.name ? <Plain text={each.name} /> : <span className="dim">without a name</span>)],
                  ["may", (each) => each.roles.join(", ")],
                  ["project", (each) => (each.project ? <Plain text={each.project} /> : <span className="dim">the sender's</span>)],
                ]}
              />
            ) : null}
            <h2 className="below">Send the first trace</h2>
            <FirstTrace settings={page} />
            <h2 className="below">Configuration in effect</h2>
            {page.settings.length ? (
              <DataTable
                label="Configuration"
                rows={page.settings}
                columns={[
                  ["key", (each) => <code>{each.key}</code>, "wide"],
                  ["value", (each) => <code><Plain text={each.value} /></code>],
                  ["where it comes from", (each) => <span className={each.origin === "default" ? "dim" : undefined}><Plain text={each.origin} /></span>],
                ]}
              />
            ) : (
              <p className="dim">This console reads a store alone; the console of <code>spanproof serve</code> shows its configuration.</p>
            )}
            <h2 className="below">Policy</h2>
            {page.policy ? <pre className="why"><Plain text={page.policy} /></pre> : (
              <p className="dim">The default policy is in effect. <Link href="/boundary">Boundary</Link> tries a change of it on stored code.</p>
            )}
            <details className="below">
              <summary>{page.scores.length} scores of the built-in evaluators</summary>
              <p>
                {page.scores.map((each, index) => (
                  <span key={index} className="part">
                    <code>{each.layer}.{each.name === each.layer ? "score" : each.name}</code>
                    {each.advisory ? <span className="dim"> advice</span> : null}
                  </span>
                ))}
              </p>
            </details>
          </>
        )}
      </Shown>
      <h2 className="below">Sandbox</h2>
      <Shown loaded={doctor}>
        {(page) => (
          <DataTable
            label="Sandboxes"
            rows={page.backends}
            columns={[
              ["backend", (each) => each.name],
              ["usable", ({ usable, tier }) => (usable ? ["yes", tier].filter(Boolean).join(", ") : <StateMark state="skipped" text="no" />)],
              ["missing", ({ features }) =>
                features.filter((feature) => !feature.present).map((feature) => (
                  <div key={feature.name}><Plain text={`${feature.name}: ${feature.detail}`} /> <span className="dim">{feature.remedy}</span></div>
                )), "wide"],
            ]}
          />
        )}
      </Shown>
      <Shown loaded={health}>
        {(page) =>
          page.readings.length ? (
            <details className="below">
              <summary>{page.readings.length} counters of the collector</summary>
              <DataTable
                label="Counters"
                rows={page.readings}
                columns={[
                  ["counter", (each) => <code>{each.name}</code>],
                  ["value", (each) => each.value.toLocaleString("en"), "heat"],
                  ["meaning", (each) => each.meaning, "wide"],
                ]}
              />
            </details>
          ) : null
        }
      </Shown>
      <Cli line="spanproof config show && spanproof doctor" />
    </>
  );
}

/** How to send spans, with the address filled in. */
export function FirstTrace({ settings }: { settings: Schema["Settings"] }) {
  const [chosen, choose] = useState("Python");
  const http = settings.otlp_http || "http://127.0.0.1:4318";
  const grpc = (settings.otlp_grpc || "http://127.0.0.1:4317").replace(/^\w+:\/\//, "");
  const ways: Record<string, string> = {
    Python: `from spanproof.instrumentors import register\n\nregister(service_name="my-agent", endpoint="${http}")`,
    Collector: `exporters:\n  otlp/spanproof:\n    endpoint: ${grpc}\n    tls: {insecure: true}\nservice:\n  pipelines:\n    traces: {exporters: [otlp/spanproof]}`,
    JavaScript: `OTEL_EXPORTER_OTLP_ENDPOINT=${http} OTEL_SERVICE_NAME=my-agent \\\n  node --require @opentelemetry/auto-instrumentations-node/register agent.js`,
    curl: `curl -s ${http}/v1/traces -H 'content-type: application/json' -d @spans.json`,
  };
  return (
    <>
      <div className="badges" role="tablist" aria-label="Ways">
        {Object.keys(ways).map((name) => (
          <button key={name} type="button" className="way" role="tab" aria-selected={name === chosen} onClick={() => choose(name)}>
            {name}
          </button>
        ))}
      </div>
      <pre className="why">{ways[chosen]}</pre>
      {settings.otlp_http ? null : (
        <p className="dim">This process receives no spans: <code>spanproof serve</code> does, on these ports by default.</p>
      )}
    </>
  );
}

/** What an empty store shows: how to send the first trace; it opens as it is evaluated. */
export function WaitForFirst() {
  const settings = useAnswer<Schema["Settings"]>("settings");
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    follow(
      stop.signal,
      () => setOpen(true),
      (row) => go(traceAddress(row.trace_id, { project: row.project })),
    ).catch(() => setOpen(false));
    return () => stop.abort();
  }, []);
  return (
    <div className="empty">
      <h2>No trace was received yet</h2>
      <Shown loaded={settings}>{(page) => <FirstTrace settings={page} />}</Shown>
      <p role="status">{open ? "Waiting for it: this page opens the first trace as it is evaluated." : ""}</p>
    </div>
  );
}
