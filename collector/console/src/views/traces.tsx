// Which runs? A query line that is also the URL, and a list that draws only the rows in sight.
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, follow, get, LAYERS, STATES, type Layer, type Schema } from "../api";
import { Cli, formatTime, Plain, Promote, Shown, type Loaded } from "../parts";
import { commandOf, isDimension, NAMES, pair, readQuery, withState, wordAt, type Parameters } from "../query";
import { go, location, typing } from "../router";
import { Outcome, StateMark } from "../state";
import { WaitForFirst } from "./settings";

type Row = Schema["TraceRow"];
const PAGE = "200";
const YEAR = "8784";

const COLUMNS = ["state", "trace", "started (UTC)", ...LAYERS, "why"];
const HIDDEN = "spanproof.hidden";
const SAVED = "spanproof.views";
const WORDS = [...STATES.map((state) => `state:${state}`), "label:fail", "label:pass", "since:1h", "since:24h", "since:7d", ...LAYERS.map((each) => `layer:${each}`), ...NAMES];

function kept<T>(key: string, standard: T): T {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "") as T;
  } catch {
    return standard;
  }
}

export function Traces() {
  const line = location.value.searchParams.get("q") ?? "";
  const { parameters, fault } = readQuery(line);
  const { loaded, more, add } = useRows(parameters, fault);
  const [hidden, setHidden] = useState(() => kept<string[]>(HIDDEN, []));
  const [picked, setPicked] = useState<ReadonlyMap<string, string>>(new Map());
  const pick = (row: Row) => {
    const next = new Map(picked);
    if (!next.delete(row.trace_id)) next.set(row.trace_id, runOf(row)?.span_id ?? "");
    setPicked(next);
  };
  const hide = (name: string) => {
    const next = hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name];
    localStorage.setItem(HIDDEN, JSON.stringify(next));
    setHidden(next);
  };
  const runs = [...picked].filter(([, run]) => run).map(([trace_id, run_span_id]) => ({ trace_id, run_span_id }));
  return (
    <>
      <h1 class="skip">Traces</h1>
      <Search key={line} line={line} />
      <StateLinks line={line} parameters={parameters} />
      <div class="stack">
        <Live parameters={parameters} add={add} />
        <Saved line={line} />
        <details class="menu">
          <summary>columns</summary>
          <div class="stack">
            {COLUMNS.map((name) => (
              <label>
                <input type="checkbox" checked={!hidden.includes(name)} onChange={() => hide(name)} /> {name}
              </label>
            ))}
          </div>
        </details>
        <Promote runs={runs} label={runs.length ? `promote ${runs.length}` : "promote"} />
        {runs.length ? (
          <button type="button" onClick={() => setPicked(new Map())}>
            clear
          </button>
        ) : (
          <span class="dim">x picks a row</span>
        )}
      </div>
      {fault ? (
        <div class="problem" role="alert">
          {fault}
        </div>
      ) : (
        <Shown loaded={loaded}>
          {(rows) =>
            rows.length ? <Table rows={rows} more={more} hidden={hidden} picked={picked} pick={pick} /> : <Nothing filtered={line !== ""} />
          }
        </Shown>
      )}
      <Cli line={commandOf(parameters)} />
    </>
  );
}

/** The traces of one state, or of all; the query line keeps the rest. */
function StateLinks({ line, parameters }: { line: string; parameters: Parameters }) {
  const chosen = parameters.state ?? (parameters.failing === "true" ? "fail" : null);
  const addressOf = (state: string | null) => {
    const query = withState(line, state);
    return query ? `/traces?q=${encodeURIComponent(query)}` : "/traces";
  };
  return (
    <div class="links" role="group" aria-label="State">
      <a href={addressOf(null)} aria-current={chosen ? undefined : "true"}>
        all
      </a>
      {STATES.map((state) => (
        <a href={addressOf(state)} aria-current={chosen === state ? "true" : undefined}>
          <StateMark state={state} />
        </a>
      ))}
    </div>
  );
}

/** The query line, which completes names, and values as the store knows them. */
function Search({ line }: { line: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [offers, setOffers] = useState<string[]>([]);
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key === "/" && !typing(event)) {
        event.preventDefault();
        input.current?.focus();
      }
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  const complete = async () => {
    const field = input.current!;
    const word = wordAt(field.value, field.selectionStart ?? field.value.length);
    setAt(-1);
    if (!word) return;
    if (isDimension(word.name)) {
      const found = await get<Schema["Values"]>(`dimensions/${encodeURIComponent(word.name)}`, { prefix: word.typed, limit: "8", hours: YEAR }).catch(() => null);
      if (input.current?.value === field.value) setOffers(found?.values.map((value) => pair(word.name, value)) ?? []);
      return;
    }
    const typed = word.name ? `${word.name}:${word.typed}` : word.typed;
    setOffers(WORDS.filter((each) => each.startsWith(typed) && each !== typed).slice(0, 10));
  };
  const take = (offer: string) => {
    const field = input.current!;
    const cursor = field.selectionStart ?? field.value.length;
    const start = wordAt(field.value, cursor)?.start ?? cursor;
    const after = offer.endsWith(":") ? "" : " ";
    field.value = field.value.slice(0, start) + offer + after + field.value.slice(cursor).trimStart();
    field.setSelectionRange(start + offer.length + after.length, start + offer.length + after.length);
    field.focus();
    if (after) setOffers([]);
    else void complete();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") setOffers([]);
    else if (event.key === "ArrowDown" && offers.length) setAt((at + 1) % offers.length);
    else if (event.key === "ArrowUp" && offers.length) setAt((at - 1 + offers.length) % offers.length);
    else if ((event.key === "Enter" || event.key === "Tab") && offers[at]) take(offers[at]!);
    else return;
    event.preventDefault();
  };
  const search = (event: Event) => {
    event.preventDefault();
    setOffers([]);
    const typed = input.current?.value.trim() ?? "";
    go(typed ? `/traces?q=${encodeURIComponent(typed)}` : "/traces");
  };
  return (
    <form class="query" role="search" onSubmit={search}>
      <input
        ref={input}
        aria-label="Filter"
        role="combobox"
        aria-expanded={offers.length > 0}
        aria-controls="offers"
        aria-activedescendant={at >= 0 ? `offer-${at}` : undefined}
        autocomplete="off"
        placeholder="state:open layer:groundedness agent:refund_clerk since:24h      ( / )"
        defaultValue={line}
        spellcheck={false}
        onInput={() => void complete()}
        onKeyDown={press}
        onBlur={() => setOffers([])}
      />
      <button type="submit">Filter</button>
      <ul id="offers" role="listbox" aria-label="Completions" class="offers" hidden={!offers.length}>
        {offers.map((offer, index) => (
          <li id={`offer-${index}`} role="option" aria-selected={index === at} onMouseDown={(event) => (event.preventDefault(), take(offer))}>
            <Plain text={offer} />
          </li>
        ))}
      </ul>
    </form>
  );
}

/** New traces at the top, as they are evaluated. */
function Live({ parameters, add }: { parameters: Parameters; add: (row: Row) => void }) {
  const [on, setOn] = useState(false);
  const [open, setOpen] = useState(false);
  const filter = useRef(parameters);
  filter.current = parameters;
  useEffect(() => {
    if (!on) return;
    const stop = new AbortController();
    const listen = () => {
      follow(
        stop.signal,
        () => setOpen(true),
        (row) => void pickNew(row, filter.current).then((found) => found.forEach(add)).catch(() => undefined),
      )
        .catch(() => undefined)
        .finally(() => {
          setOpen(false);
          if (!stop.signal.aborted) setTimeout(listen, 2000);
        });
    };
    listen();
    return () => stop.abort();
  }, [on]);
  return (
    <>
      <button type="button" aria-pressed={on} onClick={() => setOn(!on)}>
        live tail
      </button>
      <span class="dim" role="status">
        {on ? (open ? "live" : "connecting …") : ""}
      </span>
    </>
  );
}

const ON_ROWS = ["failing", "state", "layer", "hours", "project"];

/** Return a new trace where it is one of the list; what its row does not hold is known by the server. */
async function pickNew(row: Row, parameters: Parameters): Promise<Row[]> {
  if (Object.keys(parameters).some((name) => !ON_ROWS.includes(name))) {
    return (await get<Schema["TraceList"]>("traces", { ...parameters, limit: "20" })).traces.reverse();
  }
  const wanted = parameters.state ?? (parameters.failing === "true" ? "fail" : null);
  const { layer } = parameters;
  const isIn = layer ? row.runs.some((run) => run.layers[layer as Layer]?.state === wanted) : row.state === wanted;
  const fits = (!wanted || isIn) && (!parameters.project || parameters.project === row.project);
  return fits ? [row] : [];
}

/** Query lines that are kept in this browser. */
function Saved({ line }: { line: string }) {
  const [views, setViews] = useState(() => kept<string[]>(SAVED, []));
  const keep = (next: string[]) => {
    localStorage.setItem(SAVED, JSON.stringify(next));
    setViews(next);
  };
  return (
    <>
      {line && !views.includes(line) ? (
        <button type="button" onClick={() => keep([...views, line])}>
          save this view
        </button>
      ) : null}
      {views.map((each) => (
        <span class="saved">
          <a href={`/traces?q=${encodeURIComponent(each)}`}>
            <Plain text={each} />
          </a>
          <button type="button" aria-label={`forget ${each}`} onClick={() => keep(views.filter((other) => other !== each))}>
            ×
          </button>
        </span>
      ))}
    </>
  );
}

function useRows(parameters: Parameters, fault: string | null) {
  const key = JSON.stringify(parameters);
  const [state, setState] = useState<Loaded<Row[]> & { key: string }>({ value: null, error: null, key });
  const next = useRef<string | null>(null);
  const busy = useRef(false);
  const load = async (known: Row[]) => {
    if (busy.current) return;
    busy.current = true;
    try {
      const cursor: Record<string, string> = known.length ? { cursor: next.current ?? "" } : {};
      const page = await get<Schema["TraceList"]>("traces", { ...parameters, ...cursor, limit: PAGE });
      next.current = page.next;
      setState({ value: [...known, ...page.traces], error: null, key });
    } catch (error) {
      setState({ value: null, error: error as ApiError, key });
    } finally {
      busy.current = false;
    }
  };
  useEffect(() => {
    busy.current = false;
    if (!fault) void load([]);
  }, [key, fault]);
  const current = state.key === key;
  const add = (row: Row) =>
    setState((known) => {
      const others = (known.value ?? []).filter((each) => each.trace_id !== row.trace_id);
      return known.error ? known : { ...known, value: [row, ...others] };
    });
  const more = () => {
    if (current && state.value && next.current) void load(state.value);
  };
  return { loaded: current ? state : { value: null, error: null }, more, add };
}

interface Picking {
  hidden: string[];
  picked: ReadonlyMap<string, string>;
  pick: (row: Row) => void;
}

function Table({ rows, more, hidden, picked, pick }: { rows: Row[]; more: () => void } & Picking) {
  const box = useRef<HTMLDivElement>(null);
  const [, redraw] = useState(0);
  const [chosen, choose] = useState(-1);
  // Keys may come faster than a redraw: they go by this.
  const at = useRef(-1);
  const height = matchMedia("(max-width: 900px)").matches ? 56 : 32;
  const virtual = useRef<Virtualizer<HTMLDivElement, Element> | null>(null);
  const options = {
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((n) => n + 1),
  };
  virtual.current ??= new Virtualizer(options);
  virtual.current.setOptions(options);
  useEffect(() => virtual.current?._didMount(), []);
  useEffect(() => {
    virtual.current?._willUpdate();
    redraw((n) => n + 1);
  }, [rows.length]);
  const items = virtual.current.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > rows.length - 50) more();
  }, [last, rows.length]);
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      if (typing(event) || event.metaKey || event.ctrlKey) return;
      if (event.key === "j" || event.key === "k") {
        const to = Math.min(rows.length - 1, Math.max(0, at.current + (event.key === "j" ? 1 : -1)));
        at.current = to;
        choose(to);
        virtual.current?.scrollToIndex(to);
      } else if (event.key === "x" && rows[at.current]) pick(rows[at.current]!);
      else if (event.key === "o" && rows[at.current]) go(`/traces/${rows[at.current]!.trace_id}`);
    };
    addEventListener("keydown", move);
    return () => removeEventListener("keydown", move);
  }, [rows, picked]);
  const shown = (name: string) => !hidden.includes(name);
  const widths: Record<string, string> = { state: "80px", trace: "104px", groundedness: "108px", "started (UTC)": "112px", why: "minmax(220px, 3fr)" };
  const columns = ["24px", "minmax(120px, 1.2fr)", ...COLUMNS.filter(shown).map((name) => widths[name] ?? "100px")].join(" ");
  return (
    <div class="table" ref={box} style={{ height: `${Math.min(rows.length + 1, 24) * height + 8}px` }} tabIndex={0} role="region" aria-label="Traces">
      <div class="row head" aria-hidden="true" style={{ "--columns": columns }}>
        {["", "run", ...COLUMNS.filter(shown)].map((name) => (
          <span>{name}</span>
        ))}
      </div>
      <div class="rows" style={{ height: `${virtual.current.getTotalSize()}px` }}>
        {items.map((item) => {
          const row = rows[item.index]!;
          return (
            <Line
              key={row.trace_id}
              row={row}
              top={item.start}
              columns={columns}
              shown={shown}
              chosen={item.index === chosen}
              picked={picked.has(row.trace_id)}
              pick={pick}
            />
          );
        })}
      </div>
    </div>
  );
}

interface LineParts {
  row: Row;
  top: number;
  columns: string;
  shown: (name: string) => boolean;
  chosen: boolean;
  picked: boolean;
  pick: (row: Row) => void;
}

/** The run that a row is about: the first that is in the state of the whole. */
function runOf(row: Row): Row["runs"][number] | undefined {
  return row.runs.find((each) => each.state === row.state);
}

function Line({ row, top, columns, shown, chosen, picked, pick }: LineParts) {
  const run = runOf(row);
  const why = run ? run.reason : "no agent run";
  return (
    <div class="row" data-chosen={chosen || undefined} style={{ position: "absolute", top: `${top}px`, left: 0, right: 0, "--columns": columns }}>
      <input type="checkbox" class="wide" checked={picked} aria-label={`pick ${row.trace_id.slice(0, 12)}`} onChange={() => pick(row)} />
      <a class="link" href={`/traces/${row.trace_id}`}>
        <Plain text={run?.agent || "–"} />
        {row.runs.length > 1 ? <span class="dim"> +{row.runs.length - 1}</span> : null}
      </a>
      <span class="phone">
        <StateMark state={row.state} />
      </span>
      {shown("state") ? (
        <span class="wide">
          <StateMark state={row.state} />
        </span>
      ) : null}
      {shown("trace") ? <code class="wide">{row.trace_id.slice(0, 12)}</code> : null}
      {shown("started (UTC)") ? <span class="dim wide">{formatTime(row.start_ns)}</span> : null}
      {LAYERS.filter(shown).map((layer) => (
        <span class="wide">
          <Outcome outcome={run?.layers[layer]} />
        </span>
      ))}
      {shown("why") ? (
        <span class="reason" title={why}>
          <Plain text={why} />
        </span>
      ) : null}
    </div>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (!filtered) return <WaitForFirst />;
  return (
    <div class="empty">
      <h2>No trace fits this filter</h2>
      <a href="/traces">Show every trace</a>
    </div>
  );
}
