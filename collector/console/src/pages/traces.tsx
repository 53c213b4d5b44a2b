// Which runs? A query line that is also the URL, and a list that draws only the rows in sight.
import { Button, Checkbox, Popover, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { columnVisibilityFeature, createColumnHelper, tableFeatures, useTable, type Row as TableRow } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Columns3, Download, ListFilter, Radio, Star, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState, type FormEvent, type KeyboardEvent as ReactKeyboardEvent } from "react";
import { ApiError, follow, get, getFile, LAYERS, STATES, type Layer, type Schema } from "../api";
import { TraceCharts } from "../bars";
import { addressWith, chosenProject, go, here, isTyping, traceAddress } from "../location";
import { author, Cli, formatDollars, formatDuration, Link, Plain, Problem, Promote, Sent, Shown, Time, useAnswer, useSend, useSteadyAnswer, useTitle } from "../parts";
import { commandOf, isDimension, NAMES, pair, readQuery, withState, wordAt, type Parameters } from "../query";
import { LayerMarks, StateMark, statesOf } from "../state";
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

function addressOfQuery(line: string): string {
  const url = here();
  const kept = new URLSearchParams([...url.searchParams].filter(([name]) => name !== "q"));
  const query = [line ? `q=${encodeURIComponent(line)}` : "", kept.toString()].filter(Boolean).join("&");
  return query ? `/traces?${query}` : "/traces";
}

/** Return what the query line asks for, in the project and the window of the page where it names none. */
function useParameters(line: string): { parameters: Parameters; fault: string | null } {
  const { parameters, fault } = readQuery(line);
  const hours = here().searchParams.get("hours");
  const order = here().searchParams.get("order");
  const project = chosenProject();
  return {
    parameters: { ...(hours ? { hours } : {}), ...(order ? { order } : {}), ...(project === null ? {} : { project }), ...parameters },
    fault,
  };
}

export function Traces() {
  const line = here().searchParams.get("q") ?? "";
  const { parameters, fault } = useParameters(line);
  const { loaded, more, add } = useRows(parameters, fault);
  const [hidden, setHidden] = useKept<string[]>(HIDDEN, RARE);
  const [hasFacets, setFacets] = useKept(FACETS_SHOWN, false);
  const [picked, setPicked] = useState<ReadonlyMap<string, Row>>(new Map());
  useTitle(line ? `Traces, ${line}` : "Traces");
  const pick = useCallback((row: Row) => {
    setPicked((known) => {
      const next = new Map(known);
      if (!next.delete(keyOf(row))) next.set(keyOf(row), row);
      return next;
    });
  }, []);
  const runs = [...picked.values()].flatMap((row) => {
    const run = runOf(row);
    return run ? [{ trace_id: row.trace_id, run_span_id: run.span_id, project: row.project }] : [];
  });
  const isFiltered = Object.keys(parameters).length > 0;
  return (
    <>
      <h1 className="skip">Traces</h1>
      <SearchLine key={line} line={line} />
      <div className="toolbar">
        <StateLinks line={line} parameters={parameters} />
        <span className="end">
          <Live parameters={parameters} add={add} />
          <Button leftSection={<ListFilter size={14} />} aria-pressed={hasFacets} onClick={() => setFacets(!hasFacets)}>facets</Button>
          <ColumnsMenu hidden={hidden} setHidden={setHidden} />
          <ExportMenu parameters={parameters} isEmpty={!loaded.value?.length} />
          <Promote runs={runs} label={runs.length ? `promote ${runs.length}` : "promote"} />
          {runs.length ? <Button onClick={() => setPicked(new Map())}>clear</Button> : null}
        </span>
      </div>
      <SavedViews line={line} />
      {fault ? null : <TraceCharts parameters={parameters} />}
      {fault ? <Problem text={fault} /> : (
        <div className={hasFacets ? "with-facets" : undefined}>
          {hasFacets ? <FacetList line={line} parameters={parameters} /> : null}
          <Shown loaded={loaded}>
            {(rows) => (rows.length ? <TraceTable rows={rows} more={more} hidden={hidden} picked={picked} pick={pick} /> : <Nothing isFiltered={isFiltered} />)}
          </Shown>
        </div>
      )}
      <Cli line={commandOf(parameters)} />
    </>
  );
}

/** The traces of one state, or of all; the query line keeps the rest. */
function StateLinks({ line, parameters }: { line: string; parameters: Parameters }) {
  const chosen = parameters.state ?? (parameters.failing === "true" ? "fail" : null);
  return (
    <div className="links" role="group" aria-label="State">
      <Link href={addressOfQuery(withState(line, null))} aria-current={chosen ? undefined : "true"}>all</Link>
      {STATES.map((state) => (
        <Link key={state} href={addressOfQuery(withState(line, state))} aria-current={chosen === state ? "true" : undefined}>
          <StateMark state={state} />
        </Link>
      ))}
    </div>
  );
}

/** The query line, which completes names, and values as the store knows them. */
function SearchLine({ line }: { line: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [offers, setOffers] = useState<string[]>([]);
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== "/" || isTyping(event)) return;
      event.preventDefault();
      input.current?.focus();
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
    field.value = field.value.slice(0, start) + offer + after + field.value.slice(cursor).trimStart();
    const end = start + offer.length + after.length;
    field.setSelectionRange(end, end);
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
  const search = (event: FormEvent) => {
    event.preventDefault();
    setOffers([]);
    go(addressOfQuery(input.current?.value.trim() ?? ""));
  };
  return (
    <form className="search" role="search" onSubmit={search}>
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
        spellCheck={false}
        onInput={() => void complete()}
        onKeyDown={press}
        onBlur={() => setOffers([])}
      />
      <Button type="submit" variant="filled">Filter</Button>
      <ul id="offers" role="listbox" aria-label="Completions" className="offers" hidden={!offers.length}>
        {offers.map((offer, index) => (
          <li
            key={offer}
            id={`offer-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseDown={(event) => {
              event.preventDefault();
              take(offer);
            }}
          >
            <Plain text={offer} />
          </li>
        ))}
      </ul>
    </form>
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
            const isChosen = value === chosen[dimension];
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
    const listen = () => {
      follow(
        stop.signal,
        () => setOpen(true),
        (row) => void pickNew(row, filter.current).then((found) => found.forEach(add)).catch(() => undefined),
      )
        .catch(() => undefined)
        .finally(() => {
          setOpen(false);
          if (!stop.signal.aborted) setTimeout(listen, RETRY_MS);
        });
    };
    listen();
    return () => stop.abort();
  }, [isOn]);
  return (
    <>
      <span className="dim" role="status">{isOn ? (isOpen ? "live" : "connecting …") : ""}</span>
      <Button leftSection={<Radio size={14} />} aria-pressed={isOn} onClick={() => setOn(!isOn)}>live tail</Button>
    </>
  );
}

const ON_ROWS = ["failing", "state", "layer", "hours", "project", "order"];

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

/** Query lines that are kept on the server, for all readers of the project. */
function SavedViews({ line }: { line: string }) {
  const project = chosenProject();
  const views = useAnswer<Schema["ViewList"]>("views", project === null ? {} : { project });
  const [isNaming, setNaming] = useState(false);
  const sending = useSend();
  const listed = views.value?.views ?? [];
  const isNew = line !== "" && !listed.some((each) => each.query === line);
  if (!isNew && !listed.length) return null;
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name"));
    sending.run<Schema["View"]>("POST", "views", { name, query: line, author: author(), project }, (view) => {
      setNaming(false);
      views.reload();
      return `kept for ${view.project || "every project"}`;
    });
  };
  const remove = (view: Schema["View"]) => {
    const of = view.project ? `?project=${encodeURIComponent(view.project)}` : "";
    sending.run<Schema["View"]>("DELETE", `views/${encodeURIComponent(view.name)}${of}`, undefined, () => {
      views.reload();
      return `${view.name} is removed`;
    });
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
        <form className="inline" onSubmit={save}>
          <TextInput name="name" aria-label="Name of the view" placeholder="name" required maxLength={100} autoFocus />
          <Button type="submit" variant="filled" disabled={sending.busy}>save for the project</Button>
        </form>
      ) : null}
      <Sent sending={sending} />
    </div>
  );
}

function ColumnsMenu({ hidden, setHidden }: { hidden: string[]; setHidden: (names: string[]) => void }) {
  const toggle = (name: string) => setHidden(hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
  return (
    <Popover position="bottom-end" shadow="sm" trapFocus returnFocus>
      <Popover.Target><Button leftSection={<Columns3 size={14} />}>columns</Button></Popover.Target>
      <Popover.Dropdown className="checks">
        {COLUMNS.map(({ id }) => <Checkbox key={id} size="xs" label={id} checked={!hidden.includes(id!)} onChange={() => toggle(id!)} />)}
      </Popover.Dropdown>
    </Popover>
  );
}

/** The whole list as a file or a command. */
function ExportMenu({ parameters, isEmpty }: { parameters: Parameters; isEmpty: boolean }) {
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
    <Popover position="bottom-end" shadow="sm" trapFocus returnFocus>
      <Popover.Target><Button leftSection={<Download size={14} />} disabled={isEmpty}>export</Button></Popover.Target>
      <Popover.Dropdown className="checks">
        <Button onClick={() => void save("csv")}>CSV</Button>
        <Button onClick={() => void save("parquet")}>Parquet</Button>
        <Button onClick={() => void navigator.clipboard?.writeText(commandOf(parameters))}>copy as command</Button>
        {fault ? <Problem text={fault} /> : null}
      </Popover.Dropdown>
    </Popover>
  );
}

/** The rows of a query, page by page; `add` puts one in front. */
function useRows(parameters: Parameters, fault: string | null) {
  const key = JSON.stringify(parameters);
  const [fresh, setFresh] = useState<{ key: string; rows: Row[] }>({ key, rows: [] });
  const query = useInfiniteQuery<Schema["TraceList"], ApiError, { pages: Schema["TraceList"][] }, unknown[], string>({
    queryKey: ["trace rows", parameters],
    queryFn: ({ pageParam }) => get<Schema["TraceList"]>("traces", { ...parameters, ...(pageParam ? { cursor: pageParam } : {}), limit: String(PAGE_ROWS) }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
    enabled: fault === null,
    retry: (_count, error) => error.status === 0,
    retryDelay: RETRY_MS,
  });
  const value = useMemo(() => {
    if (!query.data) return null;
    const first = fresh.key === key ? fresh.rows : [];
    const known = new Set(first.map(keyOf));
    return [...first, ...query.data.pages.flatMap((page) => page.traces).filter((row) => !known.has(keyOf(row)))];
  }, [query.data, fresh, key]);
  const more = () => {
    if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
  };
  const add = useCallback(
    (row: Row) => setFresh((known) => ({ key, rows: [row, ...(known.key === key ? known.rows : []).filter((each) => keyOf(each) !== keyOf(row))] })),
    [key],
  );
  const error = value === null ? (query.error ?? query.failureReason) : null;
  return { loaded: { value, error, reload: () => void query.refetch() }, more, add };
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

const COLUMNS = column.columns([
  column.display({ id: "state", cell: ({ row }) => <StateMark state={row.original.state} /> }),
  column.display({ id: "agent", cell: ({ row: { original: row } }) => <><Plain text={runOf(row)?.agent || "–"} />{row.runs.length > 1 ? <span className="dim"> +{row.runs.length - 1}</span> : null}</> }),
  column.display({ id: "answer", cell: ({ row }) => <Cut text={runOf(row.original)?.answer} /> }),
  column.display({ id: "verdicts", cell: ({ row }) => <LayerMarks states={statesOf(runOf(row.original))} /> }),
  column.display({ id: "why", cell: ({ row }) => <Cut text={runOf(row.original)?.reason ?? "no agent run"} /> }),
  column.display({ id: "latency", cell: ({ row }) => formatDuration(Math.max(0, row.original.end_ns - row.original.start_ns)) }),
  column.display({ id: "tokens", cell: ({ row }) => row.original.tokens?.toLocaleString("en") ?? "–" }),
  column.display({ id: "cost", cell: ({ row }) => formatDollars(row.original.cost_usd) }),
  column.display({ id: "feedback", cell: ({ row }) => <Ratings ratings={row.original.feedback} /> }),
  column.display({ id: "model", cell: ({ row }) => <Plain text={runOf(row.original)?.model || "–"} /> }),
  column.display({ id: "started", cell: ({ row }) => <Time ns={row.original.start_ns} relative /> }),
  column.display({ id: "trace", cell: ({ row }) => <code>{row.original.trace_id.slice(0, 12)}</code> }),
]);

const WIDTHS: Record<string, string> = {
  state: "64px", agent: "minmax(76px, 0.7fr)", answer: "minmax(110px, 1.2fr)", verdicts: "228px", why: "minmax(100px, 1.3fr)",
  latency: "52px", tokens: "52px", cost: "54px", feedback: "60px", model: "130px", started: "76px", trace: "100px",
};
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
  more: () => void;
  hidden: string[];
  picked: ReadonlyMap<string, Row>;
  pick: (row: Row) => void;
}

function TraceTable({ rows, more, hidden, picked, pick }: TableParts) {
  const box = useRef<HTMLDivElement>(null);
  const [chosen, choose] = useState(-1);
  // Keys may come faster than a redraw: they go by this.
  const at = useRef(-1);
  const height = matchMedia(PHONE).matches ? PHONE_ROW_PX : ROW_PX;
  const columnVisibility = Object.fromEntries(hidden.map((name) => [name, false]));
  const table = useTable({ features, columns: COLUMNS, data: rows, getRowId: keyOf, state: { columnVisibility } });
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => height, overscan: 12 });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > rows.length - 50) more();
  }, [last, rows.length]);
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey) return;
      const row = rows[at.current];
      if (event.key === "j" || event.key === "k") {
        at.current = Math.min(rows.length - 1, Math.max(0, at.current + (event.key === "j" ? 1 : -1)));
        choose(at.current);
        virtual.scrollToIndex(at.current);
      } else if (event.key === "x" && row) pick(row);
      else if (event.key === "o" && row) go(addressOfRow(row));
    };
    addEventListener("keydown", move);
    return () => removeEventListener("keydown", move);
  }, [rows, virtual]);
  const names = table.getVisibleLeafColumns().map((each) => each.id);
  const template = ["16px", "minmax(130px, 1.5fr)", ...names.map((name) => WIDTHS[name])].join(" ");
  const tableRows = table.getRowModel().rows;
  return (
    <div className="table" ref={box} style={{ height: `${Math.min(rows.length + 1, 24) * height + 8}px` }} tabIndex={0} role="region" aria-label="Traces">
      <div className="row head" role="group" aria-label="Order" style={{ gridTemplateColumns: template }}>
        {["", "task", ...names].map((name) => <Head key={name} name={name} />)}
      </div>
      <div className="rows" style={{ height: `${virtual.getTotalSize()}px` }}>
        {items.map((item) => {
          const row = tableRows[item.index];
          if (!row) return null;
          return (
            <Line key={row.id} row={row} top={item.start} template={template} isChosen={item.index === chosen} isPicked={picked.has(row.id)} pick={pick}>
              {row.getVisibleCells().map((cell) => (
                <span key={cell.id} className={classOf(cell.column.id, row.original)}><table.FlexRender cell={cell} /></span>
              ))}
            </Line>
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
  const isChosen = (here().searchParams.get("order") ?? "newest") === order;
  return (
    <button type="button" className={classOf(name)} aria-pressed={isChosen} title={`${order} first`} onClick={() => go(addressWith({ order: order === "newest" ? null : order }))}>
      {name}{isChosen ? " ↓" : ""}
    </button>
  );
}

function addressOfRow(row: Row): string {
  return traceAddress(row.trace_id, { project: row.project });
}

interface LineParts {
  row: TableRow<typeof features, Row>;
  top: number;
  template: string;
  isChosen: boolean;
  isPicked: boolean;
  pick: (row: Row) => void;
  children: React.ReactNode;
}

function Line({ row: { original: row }, top, template, isChosen, isPicked, pick, children }: LineParts) {
  const isPhone = matchMedia(PHONE).matches;
  const columns = isPhone ? {} : { gridTemplateColumns: template };
  return (
    <div className="row" data-chosen={isChosen || undefined} style={{ position: "absolute", top: `${top}px`, left: 0, right: 0, ...columns }}>
      <input type="checkbox" className="wide" checked={isPicked} aria-label={`pick ${row.trace_id.slice(0, 12)}`} onChange={() => pick(row)} />
      <Link className="link" href={addressOfRow(row)}>
        <Cut text={runOf(row)?.task || runOf(row)?.agent} />
      </Link>
      <span className="phone"><StateMark state={row.state} /></span>
      {children}
    </div>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) return <WaitForFirst />;
  return <div className="empty"><h2>No trace fits this filter</h2><Link href="/traces">Show every trace</Link></div>;
}
