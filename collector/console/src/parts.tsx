// Small parts that every view uses.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { ApiError, get, LAYERS, send, setToken, type Layer, type Schema } from "./api";
import { pair, quoted, type Parameters } from "./query";
import { report } from "./report";
import { location } from "./router";
import { RateMark, StateMark } from "./state";

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

/** Hostile text: characters that show nothing, or move others, are shown as their code points. */
export function Plain({ text }: { text: string }) {
  if (!CONTROL.test(text)) return <>{text}</>;
  const parts = text.split(new RegExp(`(${CONTROL.source})`));
  return (
    <>
      {parts.map((part) =>
        part.length === 1 && CONTROL.test(part) ? (
          <span class="control">U+{part.codePointAt(0)?.toString(16).padStart(4, "0").toUpperCase()}</span>
        ) : (
          part
        ),
      )}
    </>
  );
}

export interface Loaded<T> {
  value: T | null;
  error: ApiError | null;
  reload?: () => void;
}

const RETRY_MS = 2000;

/** Load an answer whenever what is wanted changes; ask again while the server is away. */
export function useAnswer<T>(path: string, parameters: Parameters = {}): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { key: string }>({ value: null, error: null, key: "" });
  const [turn, setTurn] = useState(0);
  const key = path + JSON.stringify(parameters);
  useEffect(() => {
    if (!path) return;
    let current = true;
    let timer = 0;
    get<T>(path, parameters).then(
      (value) => current && setState({ value, error: null, key }),
      (error: ApiError) => {
        if (!current) return;
        setState({ value: null, error, key });
        if (error.status === 0) timer = window.setTimeout(() => setTurn((n) => n + 1), RETRY_MS);
      },
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, turn]);
  const reload = () => setTurn((n) => n + 1);
  return state.key === key ? { ...state, reload } : { value: null, error: null, reload };
}

export interface Sending {
  busy: boolean;
  error: string | null;
  done: string | null;
  /** Send, then call back with the answer; `said` is shown when it is done. */
  run: <T>(method: "POST" | "DELETE", path: string, body: unknown, said: (answer: T) => string) => void;
}

/** Send what a person decides, with its progress and its outcome. */
export function useSend(): Sending {
  const [state, setState] = useState({ busy: false, error: null as string | null, done: null as string | null });
  const run: Sending["run"] = <T,>(method: "POST" | "DELETE", path: string, body: unknown, said: (answer: T) => string) => {
    setState({ busy: true, error: null, done: null });
    send<T>(method, path, body).then(
      (answer) => setState({ busy: false, error: null, done: said(answer) }),
      (error: Error) => setState({ busy: false, error: error.message, done: null }),
    );
  };
  return { ...state, run };
}

/** How a write went. */
export function Sent({ sending }: { sending: Sending }) {
  if (sending.error) {
    return (
      <div class="problem" role="alert">
        <Plain text={sending.error} />
      </div>
    );
  }
  return (
    <div role="status" class={sending.done ? "notice" : undefined}>
      {sending.busy ? "Sending …" : <Plain text={sending.done ?? ""} />}
    </div>
  );
}

interface ShownParts<T> {
  loaded: Loaded<T>;
  /** The heading of a view that has none of its own before it is loaded. */
  title?: string;
  children: (value: T) => ComponentChildren;
}

/** Show what was loaded, a skeleton before that, or the error with what to do. */
export function Shown<T>({ loaded, title, children }: ShownParts<T>) {
  const heading = title ? <h1>{title}</h1> : null;
  if (loaded.error?.status === 401) return <TokenForm />;
  if (loaded.error) {
    return (
      <>
        {heading}
        <div class="problem" role="alert">
          <Plain text={loaded.error.message} />
        </div>
      </>
    );
  }
  if (loaded.value === null) {
    return (
      <>
        {heading}
        <div aria-busy="true" aria-label="loading">
          {[80, 60, 70, 40].map((width) => (
            <div class="skeleton" style={{ width: `${width}%` }} />
          ))}
        </div>
      </>
    );
  }
  return <>{children(loaded.value)}</>;
}

function TokenForm() {
  const send = (event: Event) => {
    event.preventDefault();
    setToken(String(new FormData(event.target as HTMLFormElement).get("token")));
    window.location.reload();
  };
  return (
    <form class="empty" onSubmit={send}>
      <label for="token">This console demands a reader's token.</label>
      <input id="token" name="token" type="password" autocomplete="off" />
      <button type="submit">Read</button>
    </form>
  );
}

/** The command that gives the same as the view. */
export function Cli({ line }: { line: string }) {
  return (
    <p class="cli">
      The same on a terminal: <code>{line}</code>
      <button type="button" onClick={() => navigator.clipboard?.writeText(line)}>
        copy
      </button>
    </p>
  );
}

export function formatTime(ns: number): string {
  const date = new Date(ns / 1e6);
  return Number.isNaN(date.getTime()) ? "?" : date.toISOString().replace("T", " ").slice(5, 19);
}

export function formatDuration(ns: number): string {
  const s = ns / 1e9;
  if (s >= 3600) return `${Number((s / 3600).toFixed(1))} h`;
  if (s >= 60) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return s >= 1 ? `${s.toFixed(1)} s` : `${(s * 1e3).toFixed(s >= 0.01 ? 0 : 1)} ms`;
}

export function percent(share: number | null | undefined): string {
  return share == null ? "–" : `${(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
}

const FEW = 30;

/** The 95 % interval of a rate as a thin bar; hatched where few verdicts are behind it. */
export function Interval({ low, high, n }: { low: number | null; high: number | null; n: number }) {
  if (low === null || high === null) return <div class="interval" />;
  const style = { left: `${low * 100}%`, width: `${Math.max(0.5, (high - low) * 100)}%` };
  return (
    <div class={`interval ${n < FEW ? "few" : ""}`} title={n < FEW ? `fewer than ${FEW} verdicts` : undefined}>
      <i style={style} />
    </div>
  );
}

const WINDOWS: [string, string][] = [["1", "hour"], ["24", "day"], ["168", "week"], ["720", "month"]];

/** The window of a view, which its address holds. */
export function useHours(standard: string): string {
  return location.value.searchParams.get("hours") ?? standard;
}

/** Return the address of the same view with other parameters. */
export function addressWith(change: Record<string, string | null>): string {
  const url = new URL(location.value);
  for (const [name, value] of Object.entries(change)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
}

export function nameOfWindow(hours: string): string {
  return WINDOWS.find(([value]) => value === hours)?.[1] ?? `${hours} hours`;
}

export function Windows({ hours }: { hours: string }) {
  return (
    <span class="end links" role="group" aria-label="Window">
      {WINDOWS.map(([value, name]) => (
        <a href={addressWith({ hours: value })} aria-current={value === hours ? "true" : undefined}>
          {name}
        </a>
      ))}
    </span>
  );
}

/** The head of a view: its question as a heading, and the window. */
export function Head({ title, hours, children }: { title: string; hours?: string; children?: ComponentChildren }) {
  return (
    <div class="query">
      <h1>{title}</h1>
      {children}
      {hours ? <Windows hours={hours} /> : null}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A table that scrolls by itself where the screen is narrow. */
export function Grid({ label, heads, children }: { label: string; heads: (string | [string, string])[]; children: ComponentChildren }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={label}>
      <table class="grid">
        <thead>
          <tr>
            {heads.map((head) => {
              const [name, kind] = Array.isArray(head) ? head : [head, undefined];
              return (
                <th scope="col" class={kind}>
                  {name}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function RunLink({ trace, run, text }: { trace: string; run?: string; text?: string }) {
  const name = text ? <Plain text={text} /> : <code>{trace.slice(0, 12)}</code>;
  if (report && !(`traces/${trace}` in report.answers)) return name;
  return <a href={`/traces/${trace}${run ? `?run=${run}` : ""}`}>{name}</a>;
}

/** Counts over time as small bars. */
export function Trend({ counts, label }: { counts: number[]; label: string }) {
  const most = Math.max(1, ...counts);
  return (
    <span class="trend" role="img" aria-label={label}>
      {counts.map((count) => (
        <i style={{ height: `${count ? Math.max(12, (count / most) * 100) : 3}%` }} />
      ))}
    </span>
  );
}

interface LayerCellsParts {
  layers: Schema["CohortRates"]["layers"];
  dimension: string;
  value: string;
  hours: string;
  /** The highest rate of the table, whose cell is the warmest. */
  most: number;
}

/** The verdicts of one value of a dimension, layer by layer; each leads to its failing runs. */
export function LayerCells({ layers, dimension, value, hours, most }: LayerCellsParts) {
  return (
    <>
      {LAYERS.map((layer) => {
        const rate = layers[layer];
        if (!rate) {
          return (
            <td class="heat">
              <StateMark state="skipped" text="" />
            </td>
          );
        }
        const runsWith = (word: string) => `/traces?q=${encodeURIComponent([`${word} layer:${layer}`, pair(dimension, value), `since:${hours}h`].join(" "))}`;
        const title = rate.low == null ? undefined : `95 % interval ${percent(rate.low)} to ${percent(rate.high)}`;
        return (
          <td class="heat" title={title}>
            {rate.failed ? <i class="warmth" style={{ opacity: String(0.05 + 0.2 * ((rate.rate ?? 0) / most)) }} /> : null}
            <RateMark rate={rate} href={rate.failed ? runsWith("label:fail") : undefined} />
            <span class="dim"> n {rate.judged}</span>
            {rate.open ? (
              <div>
                <StateMark state="open" text={`${rate.open} open`} href={runsWith("state:open")} />
              </div>
            ) : null}
          </td>
        );
      })}
    </>
  );
}

const CARRIED = ["session", "user"];

/** Choose a dimension: one of the cohort, a session or user, or any attribute by its key. */
export function DimensionSelect({ label, names, value, choose }: { label: string; names: string[]; value: string; choose: (name: string) => void }) {
  const [typing, setTyping] = useState(false);
  const known = [...names, ...CARRIED];
  const key = value.startsWith("attribute:") ? value.slice("attribute:".length) : "";
  const field = useRef<HTMLInputElement>(null);
  const take = () => {
    const typed = field.current?.value.trim();
    if (typed) choose(`attribute:${typed}`);
  };
  return (
    <>
      <select
        aria-label={label}
        value={key || typing ? "attribute" : value}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          setTyping(chosen === "attribute");
          if (chosen !== "attribute") choose(chosen);
        }}
      >
        {known.map((name) => (
          <option value={name}>{name.replace("_", " ")}</option>
        ))}
        {known.includes(value) || key ? null : <option value={value}>{value}</option>}
        <option value="attribute">attribute …</option>
      </select>
      {key || typing ? (
        <span class="within">
          <input
            ref={field}
            aria-label={`${label}: key of the attribute`}
            placeholder="tenant.id"
            defaultValue={key}
            size={16}
            spellcheck={false}
            onKeyDown={(event) => event.key === "Enter" && (event.preventDefault(), take())}
          />
          <button type="button" onClick={take}>
            use it
          </button>
        </span>
      ) : null}
    </>
  );
}

interface LayerSelectParts {
  /** Null is every layer. */
  value: Layer | null;
  choose: (layer: Layer | null) => void;
  every: string;
}

export function LayerSelect({ value, choose, every }: LayerSelectParts) {
  return (
    <select aria-label="Layer" value={value ?? ""} onChange={(event) => choose((event.currentTarget.value || null) as Layer | null)}>
      <option value="">{every}</option>
      {LAYERS.map((layer) => (
        <option value={layer}>{layer}</option>
      ))}
    </select>
  );
}

const AUTHOR = "spanproof.author";

/** Who labels and silences: asked once, kept in this browser. */
export function author(): string {
  return localStorage.getItem(AUTHOR) ?? "human";
}

export function AuthorField() {
  return (
    <label>
      you{" "}
      <input
        size={12}
        pattern="[a-z0-9_]{1,50}"
        title="lower-case letters, digits and _"
        defaultValue={author()}
        onInput={(event) => event.currentTarget.validity.valid && localStorage.setItem(AUTHOR, event.currentTarget.value || "human")}
      />
    </label>
  );
}

/** Choose a suite of the workspace, or name a new one, and add runs to it. */
export function Promote({ runs, label = "promote" }: { runs: { trace_id: string; run_span_id?: string }[]; label?: string }) {
  const [open, setOpen] = useState(false);
  const sending = useSend();
  const suites = useAnswer<Schema["SuiteList"]>(open ? "suites" : "");
  if (report) return null;
  const add = (event: Event) => {
    event.preventDefault();
    const suite = String(new FormData(event.target as HTMLFormElement).get("suite"));
    sending.run<Schema["Promotions"]>("POST", "promotions", { suite, runs }, (answer) => {
      const added = answer.cases.filter((each) => each.change === "added").length;
      return `${added} added to ${answer.suite}, ${answer.cases.length - added} were there already`;
    });
  };
  return (
    <>
      <button type="button" aria-expanded={open} disabled={!runs.length} onClick={() => setOpen(!open)}>
        {label}
      </button>
      {open ? (
        <form class="popup" onSubmit={add}>
          <label>
            suite <input name="suite" list="suites" required autocomplete="off" defaultValue={suites.value?.suites[0]?.name ?? ""} />
          </label>
          <datalist id="suites">
            {suites.value?.suites.map((each) => (
              <option value={each.name} />
            ))}
          </datalist>
          <button type="submit" disabled={sending.busy}>
            Add {runs.length === 1 ? "the run" : `${runs.length} runs`}
          </button>
          <Sent sending={sending} />
        </form>
      ) : null}
    </>
  );
}

export function ago(ns: number): string {
  const s = Math.max(0, Date.now() / 1e3 - ns / 1e9);
  if (s < 90) return `${Math.round(s)} s ago`;
  if (s < 5400) return `${Math.round(s / 60)} min ago`;
  if (s < 129_600) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86_400)} d ago`;
}

/** Return a name with slashes as a part of an address. */
export function pathOf(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** The request that gives the same, where no command does. */
export function request(path: string): string {
  return `curl -s ${quoted(`${window.location.origin}/api/v1/${path}`)}`;
}
