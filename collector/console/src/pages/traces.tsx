// Which runs? A query line that is also the URL, and a list that draws only the rows in sight.
import { Button, Checkbox, Popover, TextInput } from "@mantine/core";
import { columnVisibilityFeature, createColumnHelper, tableFeatures, useTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Columns3, Download, ListFilter, Radio, Star, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent as ReactKeyboardEvent, type ReactNode } from "react";
import { follow, get, getFile, LAYERS, STATES, type Schema } from "../api";
import { TraceCharts } from "../bars";
import { addressWith, getParameter, go, joinQuery, ofProject, traceAddress } from "../location";
import { author, Cli, Empty, Explanation, Form, formatDollars, formatDuration, Link, Plain, Problem, Promote, Sent, Shown, Time, useAnswer, useKeys, useSend, usePages, useSteadyAnswer, useTitle } from "../parts";
import { isDimension, NAMES, pair, withState, wordAt, type Parameters } from "../query";
import { LayerMarks, StateMark } from "../state";
import { WaitForFirst } from "./settings";

type Row = Schema["TraceRow"];

const PAGE_ROWS = 200;
const YEAR = "8784";
const RETRY_MS = 2000;
const ROW_PX = 32;
const PHONE_ROW_PX = 60;
const PHONE = "(max-width: 900px)";

const HIDDEN = "spanproof.hidden-columns";
const FACETS_SHOWN = "spanproof.facets";
const FACETS = ["agent", "model", "release", "prompt_version", "task"];
const WORDS = [...STATES.map((state) => `state:${state}`), "label:fail", "since:1h", "since:24h", "since:7d", "feedback:thumbs_down", ...LAYERS.map((each) => `layer:${each}`), ...NAMES];
const RARE = ["model", "trace"];

/** Return what this browser keeps under a key, and a function that keeps another value. */
function useKept<T>(key: string, standard: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      return (JSON.parse(localStorage.getItem(key) ?? "") as T) ?? standard;
    } catch {
      return standard;
    }
  });
  const keep = (next: T) => {
    localStorage.setItem(key, JSON.stringify(next));
    setValue(next);
  };
  return [value, keep];
}

/** Return the address of the list with another query line. */
function addressOfQuery(line: string): string {
  const [path, query] = addressWith({ q: null }).split("?");
  return joinQuery(line ? `${path}?q=${encodeURIComponent(line)}` : path!, Object.fromEntries(new URLSearchParams(query)));
}

export function Traces() {
  const line = getParameter("q") ?? "";
  const given = ["q", "hours", "order"].flatMap((name) => (getParameter(name) ? [[name, getParameter(name)!]] : []));
  const parameters: Parameters = { ...Object.fromEntries(given), ...ofProject() };
  const { loaded, command, more, add } = useRows(parameters);
  const [hidden, setHidden] = useKept<string[]>(HIDDEN, RARE);
  const [hasFacets, setFacets] = useKept(FACETS_SHOWN, false);
  const [picked, setPicked] = useState<ReadonlyMap<string, Row>>(new Map());
  useTitle(line ? `Traces, ${line}` : "Traces");
  const pick = (row: Row) =>
    setPicked((known) => {
      const next = new Map(known);
      if (!next.delete(keyOf(row))) next.set(keyOf(row), row);
      return next;
    });
  const runs = [...picked.values()].flatMap((row) => {
    const run = runOf(row);
    return run ? [{ trace_id: row.trace_id, run_span_id: run.span_id, project: row.project }] : [];
  });
  const toggle = (name: string) => setHidden(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  const chosen = line.match(/(?:^|\s)(?:state|label):(\S+)/)?.[1] ?? null;
  const isFiltered = Object.keys(parameters).length > 0;
  const nothing = isFiltered ? <Empty title="No trace fits this filter"><Link href="/traces">Show every trace</Link></Empty> : <WaitForFirst />;
  return (
    <>
      <h1 className="skip">Traces</h1>
      <SearchLine key={line} line={line} />
      <div className="toolbar">
        <div className="links" role="group" aria-label="State">
          {[null, ...STATES].map((state) => (
            <Link key={state} href={addressOfQuery(withState(line, state))} aria-current={chosen === state ? "true" : undefined}>{state ? <StateMark state={state} /> : "all"}</Link>
          ))}
        </div>
        <span className="end">
          <Live parameters={parameters} add={add} />
          <Button leftSection={<ListFilter size={14} />} aria-pressed={hasFacets} onClick={() => setFacets(!hasFacets)}>facets</Button>
          <Menu name="columns" icon={<Columns3 size={14} />}>
            {COLUMNS.map(({ id }) => <Checkbox key={id} size="xs" label={id} checked={!hidden.includes(id!)} onChange={() => toggle(id!)} />)}
          </Menu>
          <ExportMenu parameters={parameters} command={command} isEmpty={!loaded.value?.length} />
          <Promote runs={runs} label={runs.length ? `promote ${runs.length}` : "promote"} />
          {runs.length ? <Button onClick={() => setPicked(new Map())}>clear</Button> : null}
        </span>
      </div>
      <SavedViews line={line} />
      <TraceCharts parameters={parameters} />
      <div className={hasFacets ? "with-facets" : undefined}>
        {hasFacets ? <FacetList line={line} parameters={parameters} /> : null}
        <Shown loaded={loaded}>
          {(rows) => (rows.length ? <TraceTable rows={rows} more={more} hidden={hidden} picked={picked} pick={pick} /> : nothing)}
        </Shown>
      </div>
      {command ? <Cli line={command} /> : null}
    </>
  );
}

/** The query line, which completes names, and values as the store knows them. */
function SearchLine({ line }: { line: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [offers, setOffers] = useState<string[]>([]);
  const [at, setAt] = useState(-1);
  useKeys({
    "/": (event) => {
      event.preventDefault();
      input.current?.focus();
    },
  });
  const complete = async () => {
    const field = input.current!;
    const word = wordAt(field.value, field.selectionStart ?? field.value.length);
    setAt(-1);
    if (!word) return;
    if (isDimension(word.name)) {
      const asked = get<Schema["Values"]>(`dimensions/${encodeURIComponent(word.name)}`, { prefix: word.typed, limit: "8", hours: YEAR });
      const found = await asked.catch(() => null);
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
    field.setRangeText(offer + after, start, cursor + field.value.slice(cursor).search(/\S|$/), "end");
    field.focus();
    if (after) setOffers([]);
    else void complete();
  };
  const press = (event: ReactKeyboardEvent) => {
    if (event.key === "Escape") setOffers([]);
    else if (event.key === "ArrowDown" && offers.length) setAt((at + 1) % offers.length);
    else if (event.key === "ArrowUp" && offers.length) setAt((at - 1 + offers.length) % offers.length);
    else if ((event.key === "Enter" || event.key === "Tab") && offers[at]) take(offers[at]!);
    else return;
    event.preventDefault();
  };
  const search = () => {
    setOffers([]);
    go(addressOfQuery(input.current?.value.trim() ?? ""));
  };
  return (
    <Form className="search" role="search" submit={search}>
      <TextInput
        ref={input}
        className="grow"
        classNames={{ input: "code" }}
        aria-label="Filter"
        role="combobox"
        aria-expanded={offers.length > 0}
        aria-controls="offers"
        aria-activedescendant={at >= 0 ? `offer-${at}` : undefined}
        autoComplete="off"
        placeholder={`words, "a phrase", state:open layer:groundedness tokens>1000 since:24h      ( / )`}
        defaultValue={line}
        onInput={() => void complete()}
        onKeyDown={press}
        onBlur={() => setOffers([])}
      />
      <Button type="submit" variant="filled">Filter</Button>
      <ul
        id="offers"
        role="listbox"
        aria-label="Completions"
        className="offers"
        hidden={!offers.length}
        onMouseDown={(event) => {
          event.preventDefault();
          const offer = offers[[...event.currentTarget.children].indexOf((event.target as Element).closest("li")!)];
          if (offer) take(offer);
        }}
      >
        {offers.map((offer, index) => <li key={offer} id={`offer-${index}`} role="option" aria-selected={index === at}><Plain text={offer} /></li>)}
      </ul>
    </Form>
  );
}

/** The commonest values of the dimensions within the list; one that is chosen joins the query line. */
function FacetList({ line, parameters: { order: _order, ...chosen } }: { line: string; parameters: Parameters }) {
  const found = useSteadyAnswer<Schema["Facets"]>("facets", { ...chosen, by: FACETS });
  const shown = found?.facets.filter((each) => each.values.length) ?? [];
  return (
    <nav className="facets" aria-label="Facets">
      {found ? <div className="dim">{found.traces.toLocaleString("en")} traces</div> : null}
      {shown.map(({ dimension, values }) => (
        <section key={dimension}>
          <h2>{dimension.replace("_", " ")}</h2>
          {values.map(({ value, traces }) => {
            const isChosen = ` ${line} `.includes(` ${pair(dimension, value)} `);
            const without = line.replace(new RegExp(`(?:^|\\s)${dimension}:(?:"(?:\\\\.|[^"\\\\])*"|\\S)*`, "g"), " ").trim();
            const next = isChosen ? without : `${without} ${pair(dimension, value)}`.trim();
            return (
              <Link key={value} href={addressOfQuery(next)} aria-current={isChosen ? "true" : undefined}>
                <span><Plain text={value} /></span> <small>{traces.toLocaleString("en")}</small>
              </Link>
            );
          })}
        </section>
      ))}
    </nav>
  );
}

/** New traces at the top, as they are evaluated. */
function Live({ parameters, add }: { parameters: Parameters; add: (row: Row) => void }) {
  const [isOn, setOn] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const filter = useRef(parameters);
  filter.current = parameters;
  useEffect(() => {
    if (!isOn) return;
    const stop = new AbortController();
    const take = (row: Row) => void pickNew(row, filter.current).then((found) => found.forEach(add)).catch(() => undefined);
    const listen = async () => {
      await follow(stop.signal, () => setOpen(true), take).catch(() => undefined);
      setOpen(false);
      if (!stop.signal.aborted) setTimeout(listen, RETRY_MS);
    };
    void listen();
    return () => stop.abort();
  }, [isOn]);
  return (
    <>
      <span className="dim" role="status">{isOn ? (isOpen ? "live" : "connecting …") : ""}</span>
      <Button leftSection={<Radio size={14} />} aria-pressed={isOn} onClick={() => setOn(!isOn)}>live tail</Button>
    </>
  );
}

/** Return a new trace where it is one of the list, which the server knows. */
async function pickNew(row: Row, parameters: Parameters): Promise<Row[]> {
  if (!("q" in parameters) && !("project" in parameters)) return [row];
  return (await get<Schema["TraceList"]>("traces", { ...parameters, limit: "20" })).traces.reverse();
}

/** Query lines that are kept on the server, for all readers of the project. */
function SavedViews({ line }: { line: string }) {
  const views = useAnswer<Schema["ViewList"]>("views", ofProject());
  const [isNaming, setNaming] = useState(false);
  const sending = useSend(views.reload);
  const listed = views.value?.views ?? [];
  const isNew = line !== "" && !listed.some((each) => each.query === line);
  if (!isNew && !listed.length) return null;
  const save = ({ name }: Record<string, string>) =>
    sending.run<Schema["View"]>("POST", "views", { name, query: line, author: author(), project: getParameter("project") }, (view) => {
      setNaming(false);
      return `kept for ${view.project || "every project"}`;
    });
  const remove = ({ name, project }: Schema["View"]) => {
    const path = joinQuery(`views/${encodeURIComponent(name)}`, ofProject(project || null));
    sending.run<Schema["View"]>("DELETE", path, undefined, () => `${name} is removed`);
  };
  return (
    <div className="stack">
      {listed.map((each) => (
        <span key={`${each.project} ${each.name}`} className="saved" title={`${each.query} · kept by ${each.author}`}>
          <Link href={addressOfQuery(each.query)} aria-current={each.query === line ? "true" : undefined}><Plain text={each.name} /></Link>
          <button type="button" aria-label={`remove the view ${each.name}`} onClick={() => remove(each)}><X size={12} /></button>
        </span>
      ))}
      {isNew && !isNaming ? <Button size="compact-xs" leftSection={<Star size={12} />} onClick={() => setNaming(true)}>save this view</Button> : null}
      {isNaming ? (
        <Form className="inline" submit={save}>
          <TextInput name="name" aria-label="Name of the view" placeholder="name" required maxLength={100} autoFocus />
          <Button type="submit" variant="filled" disabled={sending.busy}>save for the project</Button>
        </Form>
      ) : null}
      <Sent sending={sending} />
    </div>
  );
}

function Menu({ name, icon, disabled, children }: { name: string; icon: ReactNode; disabled?: boolean; children: ReactNode }) {
  return (
    <Popover position="bottom-end" shadow="sm" trapFocus returnFocus>
      <Popover.Target><Button leftSection={icon} disabled={disabled}>{name}</Button></Popover.Target>
      <Popover.Dropdown className="checks">{children}</Popover.Dropdown>
    </Popover>
  );
}

/** The whole list as a file or a command. */
function ExportMenu({ parameters, command, isEmpty }: { parameters: Parameters; command: string; isEmpty: boolean }) {
  const [fault, setFault] = useState<string | null>(null);
  const save = async (format: string) => {
    const file = await getFile(`exports/${format}`, parameters).catch((problem: Error) => setFault(problem.message));
    if (!file) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = `traces.${format}`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Menu name="export" icon={<Download size={14} />} disabled={isEmpty}>
      <Button onClick={() => void save("csv")}>CSV</Button>
      <Button onClick={() => void save("parquet")}>Parquet</Button>
      <Button onClick={() => void navigator.clipboard?.writeText(command)}>copy as command</Button>
      {fault ? <Problem text={fault} /> : null}
    </Menu>
  );
}

/** The rows of a query, page by page; `add` puts one in front. */
function useRows(parameters: Parameters) {
  const key = JSON.stringify(parameters);
  const [fresh, setFresh] = useState<{ key: string; rows: Row[] }>({ key, rows: [] });
  const { pages, error, reload, more } = usePages<Schema["TraceList"]>("traces", { ...parameters, limit: String(PAGE_ROWS) });
  const value = useMemo(() => {
    if (!pages) return null;
    const rows = [...(fresh.key === key ? fresh.rows : []), ...pages.flatMap((page) => page.traces)];
    const known = new Set<string>();
    return rows.filter((row) => !known.has(keyOf(row)) && known.add(keyOf(row)));
  }, [pages, fresh, key]);
  const add = useCallback((row: Row) => setFresh((known) => ({ key, rows: [row, ...(known.key === key ? known.rows : [])] })), [key]);
  return { loaded: { value, error, reload }, command: pages?.[0]?.command ?? "", more, add };
}

/** Several projects may each have a trace of one id. */
function keyOf(row: Row): string {
  return `${row.project} ${row.trace_id}`;
}

/** The run that a row is about: the first that is in the state of the whole. */
function runOf(row: Row): Row["runs"][number] | undefined {
  return row.runs.find((each) => each.state === row.state);
}

const features = tableFeatures({ columnVisibilityFeature });
const column = createColumnHelper<typeof features, Row>();

/** The columns after the task: what a row has there, and how wide they are. */
const CELLS: Record<string, [cell: (row: Row) => ReactNode, width: string]> = {
  state: [(row) => <StateMark state={row.state} />, "64px"],
  agent: [(row) => <><Plain text={runOf(row)?.agent || "–"} />{row.runs.length > 1 ? <span className="dim"> +{row.runs.length - 1}</span> : null}</>, "minmax(76px, 0.7fr)"],
  answer: [(row) => <Cut text={runOf(row)?.answer} />, "minmax(110px, 1.2fr)"],
  verdicts: [(row) => <LayerMarks states={runOf(row)?.layer_states ?? {}} />, "228px"],
  why: [(row) => <span title={runOf(row)?.reason}><Explanation text={runOf(row)?.reason ?? "no agent run"} /></span>, "minmax(100px, 1.3fr)"],
  latency: [(row) => formatDuration(Math.max(0, row.end_ns - row.start_ns)), "52px"],
  tokens: [(row) => row.tokens?.toLocaleString("en") ?? "–", "52px"],
  cost: [(row) => formatDollars(row.cost_usd), "54px"],
  feedback: [(row) => <Ratings ratings={row.feedback} />, "60px"],
  model: [(row) => <Plain text={runOf(row)?.model || "–"} />, "130px"],
  started: [(row) => <Time ns={row.start_ns} relative />, "76px"],
  trace: [(row) => <code>{row.trace_id.slice(0, 12)}</code>, "100px"],
};
const COLUMNS = column.columns(Object.entries(CELLS).map(([id, [cell]]) => column.display({ id, cell: ({ row }) => cell(row.original) })));

const NUMBERS = ["latency", "tokens", "cost"];
const ORDERS: Record<string, string> = { started: "newest", latency: "slowest", tokens: "tokens", cost: "cost" };

/** Text in a cell, whole when a pointer rests on it. */
function Cut({ text }: { text: string | undefined }) {
  return <span title={text}><Plain text={text || "–"} /></span>;
}

function Ratings({ ratings }: { ratings: Row["feedback"] }) {
  const words = Object.entries(ratings).map(([kind, times]) => `${times} ${kind.replace("_", " ")}`).join(", ");
  const good = ratings.thumbs_up ?? 0;
  const bad = Object.values(ratings).reduce((sum, times) => sum + times, 0) - good;
  if (!words) return <span className="dim">–</span>;
  return <span role="img" title={words} aria-label={words}>{good ? `▲${good} ` : ""}{bad ? `▼${bad}` : ""}</span>;
}

interface TableParts {
  rows: Row[];
  more?: () => void;
  hidden: string[];
  picked: ReadonlyMap<string, Row>;
  pick: (row: Row) => void;
}

function TraceTable({ rows, more, hidden, picked, pick }: TableParts) {
  const box = useRef<HTMLDivElement>(null);
  const [chosen, choose] = useState(-1);
  // Keys may come faster than a redraw: they go by this.
  const at = useRef(-1);
  const isPhone = matchMedia(PHONE).matches;
  const height = isPhone ? PHONE_ROW_PX : ROW_PX;
  const columnVisibility = Object.fromEntries(hidden.map((name) => [name, false]));
  const table = useTable({ features, columns: COLUMNS, data: rows, getRowId: keyOf, state: { columnVisibility } });
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => height, overscan: 12 });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > rows.length - 50) more?.();
  }, [last, rows.length]);
  const move = (step: number) => {
    at.current = Math.min(rows.length - 1, Math.max(0, at.current + step));
    choose(at.current);
    virtual.scrollToIndex(at.current);
  };
  const withRow = (act: (row: Row) => void) => () => {
    const row = rows[at.current];
    if (row) act(row);
  };
  useKeys({ j: () => move(1), k: () => move(-1), x: withRow(pick), o: withRow((row) => go(addressOfRow(row))) });
  const names = table.getVisibleLeafColumns().map((each) => each.id);
  const gridTemplateColumns = ["16px", "minmax(130px, 1.5fr)", ...names.map((name) => CELLS[name]![1])].join(" ");
  const tableRows = table.getRowModel().rows;
  return (
    <div className="table" ref={box} style={{ height: `${Math.min(rows.length + 1, 24) * height + 8}px` }} tabIndex={0} role="region" aria-label="Traces">
      <div className="row head" role="group" aria-label="Order" style={{ gridTemplateColumns }}>
        {["", "task", ...names].map((name) => <Head key={name} name={name} />)}
      </div>
      <div className="rows" style={{ height: `${virtual.getTotalSize()}px` }}>
        {items.map(({ index, start }) => {
          const shown = tableRows[index];
          if (!shown) return null;
          const row = shown.original;
          const style = { position: "absolute", top: `${start}px`, left: 0, right: 0, ...(isPhone ? {} : { gridTemplateColumns }) } as const;
          return (
            <div key={shown.id} className="row" data-chosen={index === chosen || undefined} style={style}>
              <input type="checkbox" className="wide" checked={picked.has(shown.id)} aria-label={`pick ${row.trace_id.slice(0, 12)}`} onChange={() => pick(row)} />
              <Link className="link" href={addressOfRow(row)}><Cut text={runOf(row)?.task || runOf(row)?.agent} /></Link>
              <span className="phone"><StateMark state={row.state} /></span>
              {shown.getVisibleCells().map((cell) => (
                <span key={cell.id} className={classOf(cell.column.id, row)}><table.FlexRender cell={cell} /></span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Return the classes of a cell; on a phone a row says why it did not pass, else what the answer was. */
function classOf(column: string, row?: Row): string {
  if (column === (row && runOf(row)?.reason === "" ? "answer" : "why")) return "reason";
  return NUMBERS.includes(column) ? "wide number" : "wide";
}

/** The name of a column; one that a list can be ordered by is a button. */
function Head({ name }: { name: string }) {
  const order = ORDERS[name];
  if (!order) return <span aria-hidden="true">{name}</span>;
  const isChosen = (getParameter("order") ?? "newest") === order;
  return (
    <button type="button" className={classOf(name)} aria-pressed={isChosen} title={`${order} first`} onClick={() => go(addressWith({ order: order === "newest" ? null : order }))}>
      {name}{isChosen ? " ↓" : ""}
    </button>
  );
}

function addressOfRow(row: Row): string {
  return traceAddress(row.trace_id, { project: row.project });
}
