// How this installation is set up, and how to send the first trace.
import { useEffect, useState } from "react";
import { follow, type Schema } from "../api";
import { Cli, DataTable, Empty, Head, Link, Plain, Properties, Shown, useAnswer } from "../parts";
import { go, traceAddress } from "../location";
import { StateMark } from "../state";

export function Settings() {
  const found = useAnswer<Schema["Settings"]>("settings");
  const doctor = useAnswer<Schema["Doctor"]>("doctor");
  const health = useAnswer<Schema["Health"]>("health");
  return (
    <>
      <Head title="Settings" />
      <Shown loaded={found}>{(page) => <Installation page={page} />}</Shown>
      <h2 className="below">Sandbox</h2>
      <Shown loaded={doctor}>
        {({ backends }) => (
          <DataTable
            label="Sandboxes"
            rows={backends}
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
        {({ readings }) => (readings.length ? (
          <details className="below">
            <summary>{readings.length} counters of the collector</summary>
            <DataTable
              label="Counters"
              rows={readings}
              columns={[
                ["counter", (each) => <code>{each.name}</code>],
                ["value", (each) => each.value.toLocaleString("en"), "heat"],
                ["meaning", (each) => each.meaning, "wide"],
              ]}
            />
          </details>
        ) : null)}
      </Shown>
      <Cli line="spanproof config show && spanproof doctor" />
    </>
  );
}

function Installation({ page }: { page: Schema["Settings"] }) {
  const nameOf = ({ layer, name }: Schema["Settings"]["scores"][number]) => `${layer}.${name === layer ? "score" : name}`;
  return (
    <>
      <Properties
        rows={[
          ["version", page.version],
          ["store", page.store],
          ["workspace", page.workspace || "none"],
          ["tokens", `${page.readers} for reading, ${page.writers} for writing; you may ${page.may_write ? "write" : "read"}`],
        ]}
      />
      <DataTable
        label="Tokens"
        rows={page.tokens}
        empty={<></>}
        columns={[
          ["token", (each) => each.name || <span className="dim">without a name</span>],
          ["may", (each) => each.roles.join(", ")],
          ["project", (each) => each.project || <span className="dim">the sender's</span>],
        ]}
      />
      <h2 className="below">Send the first trace</h2>
      <FirstTrace settings={page} />
      <h2 className="below">Configuration in effect</h2>
      <DataTable
        label="Configuration"
        rows={page.settings}
        empty={<p className="dim">This console reads a store alone; the console of <code>spanproof serve</code> shows its configuration.</p>}
        columns={[
          ["key", (each) => <code>{each.key}</code>, "wide"],
          ["value", (each) => <code><Plain text={each.value} /></code>],
          ["where it comes from", (each) => <span className={each.origin === "default" ? "dim" : undefined}><Plain text={each.origin} /></span>],
        ]}
      />
      <h2 className="below">Policy</h2>
      {page.policy ? <pre className="why"><Plain text={page.policy} /></pre> : (
        <p className="dim">The default policy is in effect. <Link href="/boundary">Boundary</Link> tries a change of it on stored code.</p>
      )}
      <details className="below">
        <summary>{page.scores.length} scores of the built-in evaluators</summary>
        <p>
          {page.scores.map((each) => (
            <span key={nameOf(each)} className="part"><code>{nameOf(each)}</code>{each.advisory ? <span className="dim"> advice</span> : null}</span>
          ))}
        </p>
      </details>
    </>
  );
}

/** How to send spans, with the address filled in. */
export function FirstTrace({ settings: { ways, otlp_http } }: { settings: Schema["Settings"] }) {
  const [chosen, choose] = useState(0);
  return (
    <>
      <div className="badges" role="tablist" aria-label="Ways">
        {ways.map(({ name }, at) => <button key={name} type="button" className="way" role="tab" aria-selected={at === chosen} onClick={() => choose(at)}>{name}</button>)}
      </div>
      <pre className="why">{ways[chosen]!.text}</pre>
      {otlp_http ? null : <p className="dim">This process receives no spans: <code>spanproof serve</code> does, on these ports by default.</p>}
    </>
  );
}

/** What an empty store shows: how to send the first trace; it opens as it is evaluated. */
export function WaitForFirst() {
  const settings = useAnswer<Schema["Settings"]>("settings");
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const show = ({ trace_id, project }: Schema["TraceRow"]) => go(traceAddress(trace_id, { project }));
    follow(stop.signal, () => setOpen(true), show).catch(() => setOpen(false));
    return () => stop.abort();
  }, []);
  return (
    <Empty title="No trace was received yet">
      <Shown loaded={settings}>{(page) => <FirstTrace settings={page} />}</Shown>
      <p role="status">{open ? "Waiting for it: this page opens the first trace as it is evaluated." : ""}</p>
    </Empty>
  );
}
