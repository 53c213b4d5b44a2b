// Which runs? A query line that is also the URL, and a list that draws only the rows in sight.
import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, LAYERS, type Schema } from "../api";
import { Cli, formatTime, Outcome, Plain, Shown, type Loaded } from "../parts";
import { commandOf, NAMES, readQuery } from "../query";
import { go, location } from "../router";

type Row = Schema["TraceRow"];
const PAGE = "200";

export function Traces() {
  const line = location.value.searchParams.get("q") ?? "";
  const { parameters, fault } = readQuery(line);
  const { loaded, more } = useRows(parameters, fault);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
        event.preventDefault();
        input.current?.focus();
      }
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  const search = (event: Event) => {
    event.preventDefault();
    const typed = input.current?.value.trim() ?? "";
    go(typed ? `/traces?q=${encodeURIComponent(typed)}` : "/traces");
  };
  return (
    <>
      <h1 class="skip">Traces</h1>
      <form class="query" role="search" onSubmit={search}>
        <input
          key={line}
          ref={input}
          aria-label="Filter"
          list="names"
          placeholder="label:fail layer:groundedness agent:refund_clerk since:24h      ( / )"
          defaultValue={line}
          spellcheck={false}
        />
        <datalist id="names">
          {["label:fail", "since:24h", "since:7d", ...LAYERS.map((each) => `label:fail layer:${each}`), ...NAMES].map((name) => (
            <option value={name} />
          ))}
        </datalist>
        <button type="submit">Filter</button>
      </form>
      {fault ? (
        <div class="problem" role="alert">
          {fault}
        </div>
      ) : (
        <Shown loaded={loaded}>
          {(rows) => (rows.length ? <Table rows={rows} more={more} /> : <Empty filtered={line !== ""} />)}
        </Shown>
      )}
      <Cli line={commandOf(parameters)} />
    </>
  );
}

function useRows(parameters: Record<string, string>, fault: string | null) {
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
  const more = () => {
    if (current && state.value && next.current) void load(state.value);
  };
  return { loaded: current ? state : { value: null, error: null }, more };
}

function Table({ rows, more }: { rows: Row[]; more: () => void }) {
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
      if (event.target instanceof HTMLInputElement || event.metaKey || event.ctrlKey) return;
      if (event.key === "j" || event.key === "k") {
        const to = Math.min(rows.length - 1, Math.max(0, at.current + (event.key === "j" ? 1 : -1)));
        at.current = to;
        choose(to);
        virtual.current?.scrollToIndex(to);
      } else if (event.key === "o" && rows[at.current]) go(`/traces/${rows[at.current]!.trace_id}`);
    };
    addEventListener("keydown", move);
    return () => removeEventListener("keydown", move);
  }, [rows]);
  return (
    <div class="table" ref={box} style={{ height: `${Math.min(rows.length + 1, 24) * height + 8}px` }} tabIndex={0} role="region" aria-label="Traces">
      <div class="row head" aria-hidden="true">
        {["run", "trace", "started (UTC)", ...LAYERS, "why"].map((name) => (
          <span>{name}</span>
        ))}
      </div>
      <div class="rows" style={{ height: `${virtual.current.getTotalSize()}px` }}>
        {items.map((item) => {
          const row = rows[item.index]!;
          return <Line key={row.trace_id} row={row} top={item.start} chosen={item.index === chosen} />;
        })}
      </div>
    </div>
  );
}

function Line({ row, top, chosen }: { row: Row; top: number; chosen: boolean }) {
  const runs = row.runs;
  const run = runs.find((each) => Object.values(each.layers).some((o) => o.verdict === "fail")) ?? runs[0];
  const failing = run && LAYERS.find((layer) => run.layers[layer]?.verdict === "fail");
  const why = failing ? `${failing}: ${run.layers[failing]!.explanation}` : run ? "" : "no agent run";
  return (
    <a
      class="row"
      href={`/traces/${row.trace_id}`}
      data-chosen={chosen || undefined}
      style={{ position: "absolute", top: `${top}px`, left: 0, right: 0 }}
    >
      <span>
        <Plain text={run?.agent || "–"} />
        {runs.length > 1 ? <span class="dim"> +{runs.length - 1}</span> : null}
      </span>
      <code>{row.trace_id.slice(0, 12)}</code>
      <span class="dim wide">{formatTime(row.start_ns)}</span>
      {LAYERS.map((layer) => (
        <span class="wide">
          <Outcome outcome={run?.layers[layer]} />
        </span>
      ))}
      <span class="reason" title={why}>
        <Plain text={why} />
      </span>
    </a>
  );
}

function Empty({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <div class="empty">
        <h2>No trace fits this filter</h2>
        <a href="/traces">Show every trace</a>
      </div>
    );
  }
  return (
    <div class="empty">
      <h2>No trace was received yet</h2>
      <p>Point an OTLP exporter at the collector, then reload:</p>
      <pre>{'from spanproof.instrumentors import register\n\nregister(service_name="my-agent", endpoint="http://127.0.0.1:4318")'}</pre>
      <p>Any other language or collector:</p>
      <pre>OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318</pre>
    </div>
  );
}
