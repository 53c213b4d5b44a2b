// Small parts that every page uses.
import { Button, NativeSelect, Skeleton, Table, TextInput } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Copy, FolderPlus } from "lucide-react";
import { Fragment, useEffect, useState, type ComponentProps, type ReactNode } from "react";
import { report } from "./answers";
import { ApiError, get, LAYERS, send, setToken, type Schema, type State } from "./api";
import { addressWith, getParameter, go, here, isTyping, ofProject, traceAddress, withProject } from "./location";
import { pageOf } from "./pagelist";
import { quoted, type Parameters } from "./query";
import { MARKS, StateMark } from "./state";

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

function nameCharacter(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).padStart(4, "0").toUpperCase()}`;
}

/** Return hostile text for where only a string can be: as `Plain` shows it. */
export function plainText(text: string): string {
  return text.replace(new RegExp(CONTROL.source, "g"), nameCharacter);
}

/** Hostile text: characters that show nothing, or move others, are shown as their code points. */
export function Plain({ text }: { text: string }) {
  if (!CONTROL.test(text)) return <>{text}</>;
  const parts = text.split(new RegExp(`(${CONTROL.source})`));
  return parts.map((part, index) =>
    part.length === 1 && CONTROL.test(part) ? <span key={index} className="control">{nameCharacter(part)}</span> : part,
  );
}

/** What an evaluator says of a verdict: it marks what it did not read with asterisks, which are shown as emphasis. */
export function Explanation({ text }: { text: string }) {
  const parts = text.split(/(?<=not read: (?:\*[^*]+\*, )*)\*([^*]+)\*/);
  return parts.map((part, index) => (index % 2 ? <em key={index}><Plain text={part} /></em> : <Plain key={index} text={part} />));
}

/** What a page shows as it is; a string of it may be hostile. */
function show(content: ReactNode): ReactNode {
  return typeof content === "string" ? <Plain text={content} /> : content;
}

const WORDS = /[^-./_:]{1,24}[-./_:]*|[-./_:]+/g;

/** A name in code, which breaks after its separators; only a very long word of it breaks in two. */
export function Name({ text }: { text: string }) {
  return <code className="name">{text.match(WORDS)?.map((word, index) => <Fragment key={index}>{index ? <wbr /> : null}<Plain text={word} /></Fragment>)}</code>;
}

export interface Loaded<T> {
  value: T | null;
  error: ApiError | null;
  reload: () => void;
}

const RETRY_MS = 2000;
// What the API can answer for one project alone; a trace of a project is found by both.
const BY_PROJECT = /^(overview|usage|cohorts\/|traces|failures|compare|sessions|boundary|review|labels|agreement|gate$)/;

/** Load an answer whenever what is wanted changes; ask again while the server is away. An empty path asks nothing. */
export function useAnswer<T>(path: string, given: Parameters = {}): Loaded<T> {
  const parameters = BY_PROJECT.test(path) ? { ...ofProject(), ...given } : given;
  const query = useQuery<T, ApiError>({
    queryKey: [path, parameters],
    queryFn: () => get<T>(path, parameters),
    enabled: path !== "",
    retry: (_count, error) => error.status === 0,
    retryDelay: RETRY_MS,
  });
  const value = query.data ?? null;
  return { value, error: value === null ? (query.error ?? query.failureReason) : null, reload: () => void query.refetch() };
}

/** Load a list page by page: each answer says where the next one begins. */
export function usePages<T extends { next: string | null }>(path: string, parameters: Parameters) {
  const query = useInfiniteQuery<T, ApiError, { pages: T[] }, unknown[], string>({
    queryKey: ["pages", path, parameters],
    queryFn: ({ pageParam }) => get<T>(path, { ...parameters, ...(pageParam ? { cursor: pageParam } : {}) }),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
    retry: (_count, error) => error.status === 0,
    retryDelay: RETRY_MS,
  });
  const pages = query.data?.pages ?? null;
  const more = query.hasNextPage && !query.isFetching ? () => void query.fetchNextPage() : undefined;
  return { pages, error: pages === null ? (query.error ?? query.failureReason) : null, reload: () => void query.refetch(), hasMore: query.hasNextPage, more };
}

/** As `useAnswer`, but what was shown stays until the answer to another question is there. */
export function useSteadyAnswer<T>(path: string, parameters: Parameters = {}): T | null {
  const query = useQuery<T, ApiError>({
    queryKey: [path, parameters],
    queryFn: () => get<T>(path, parameters),
    enabled: path !== "" && !report,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });
  return query.data ?? null;
}

/** Send what a person decides, with its progress and its outcome; what is shown is loaded again once it is done. */
export function useSend(reload?: () => void) {
  const [state, setState] = useState({ busy: false, error: null as string | null, done: null as string | null });
  /** Send, then call back with the answer; what that returns is shown when it is done. */
  const run = <T,>(method: "POST" | "DELETE", path: string, body: unknown, onDone: (answer: T) => string) => {
    setState({ busy: true, error: null, done: null });
    send<T>(method, path, body).then(
      (answer) => {
        setState({ busy: false, error: null, done: onDone(answer) });
        reload?.();
      },
      (error: Error) => setState({ busy: false, error: error.message, done: null }),
    );
  };
  return { ...state, run };
}

export type Sending = ReturnType<typeof useSend>;

/** How a write went. */
export function Sent({ sending }: { sending: Sending }) {
  if (sending.error) return <Problem text={sending.error} />;
  return (
    <div role="status" className={sending.done ? "notice" : undefined}>
      {sending.busy ? "Sending …" : <Plain text={sending.done ?? ""} />}
    </div>
  );
}

export function Problem({ text }: { text: string }) {
  return <div className="problem" role="alert"><Plain text={text} /></div>;
}

/** What a list leaves out, each with the reason. */
export const Problems = ({ texts }: { texts: string[] }) => texts.map((text) => <Problem key={text} text={text} />);

interface ShownParts<T> {
  loaded: Loaded<T>;
  /** The heading of a page that has none of its own before it is loaded. */
  title?: string;
  children: (value: T) => ReactNode;
}

/** Show what was loaded, a skeleton before that, or the error with what to do. */
export function Shown<T>({ loaded: { value, error }, title, children }: ShownParts<T>) {
  if (error?.status === 401) return <TokenForm />;
  if (value !== null) return <>{children(value)}</>;
  return (
    <>
      {title ? <h1>{title}</h1> : null}
      {error ? <Problem text={error.message} /> : (
        <div aria-busy="true" aria-label="loading" role="status">
          {[80, 60, 70, 40].map((width) => <Skeleton key={width} height={12} my={10} width={`${width}%`} />)}
        </div>
      )}
    </>
  );
}

interface FormParts extends Omit<ComponentProps<"form">, "onSubmit"> {
  /** Called with what the fields hold, by their names. */
  submit: (fields: Record<string, string>) => void;
}

/** Fields that one button sends; the page stays. */
export function Form({ submit, ...parts }: FormParts) {
  return (
    <form
      {...parts}
      onSubmit={(event) => {
        event.preventDefault();
        submit(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>);
      }}
    />
  );
}

function TokenForm() {
  const keep = ({ token }: Record<string, string>) => {
    setToken(token!);
    window.location.reload();
  };
  return (
    <Form className="empty" submit={keep}>
      <TextInput label="This console demands a reader's token." name="token" type="password" autoComplete="off" />
      <Button type="submit">Read</Button>
    </Form>
  );
}

/** Act on keys that are typed outside of fields. */
export function useKeys(keys: Record<string, (event: KeyboardEvent) => void>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isTyping(event) && !event.metaKey && !event.ctrlKey && !event.altKey) keys[event.key]?.(event);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

/** Name the tab of the browser: the verdict first, then what the page is about. */
export function useTitle(title: string, state?: State | null): void {
  const mark = state ? `${MARKS[state]} ${state}: ` : "";
  useEffect(() => {
    if (title) document.title = `${mark}${plainText(title).slice(0, 90)} · Spanproof`;
  }, [title, mark]);
}

/** The command that gives the same as the page. */
export function Cli({ line }: { line: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard?.writeText(line).then(() => setCopied(true));
  return (
    <p className="cli">
      <span>The same on a terminal:</span> <code><Plain text={line} /></code>
      <Button size="compact-xs" leftSection={<Copy size={12} />} onClick={copy}>{copied ? "copied" : "copy"}</Button>
    </p>
  );
}

/** A moment in the reader's time; UTC is in its title. */
export function Time({ ns, relative = false }: { ns: number; relative?: boolean }) {
  const date = new Date(ns / 1e6);
  if (!ns || Number.isNaN(date.getTime())) return <span>?</span>;
  const local = formatLocalTime(ns);
  const utc = `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return <time dateTime={date.toISOString()} title={relative ? `${local}, ${utc}` : utc}>{relative ? formatAge(ns) : local}</time>;
}

const two = (part: number) => String(part).padStart(2, "0");

/** Return month, day and time, as the clock of the reader has them. */
export function formatLocalTime(ns: number): string {
  const date = new Date(ns / 1e6);
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`;
}

export function formatAge(ns: number): string {
  const s = Math.max(0, Date.now() / 1e3 - ns / 1e9);
  if (s < 90) return `${Math.round(s)} s ago`;
  if (s < 5400) return `${Math.round(s / 60)} min ago`;
  if (s < 129_600) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86_400)} d ago`;
}

export function formatDuration(ns: number): string {
  const s = ns / 1e9;
  if (s >= 172_800) return `${Math.round(s / 86_400)} d`;
  if (s >= 3600) return `${Number((s / 3600).toFixed(1))} h`;
  if (s >= 60) return `${Math.floor(s / 60)} min${s % 60 >= 1 ? ` ${Math.floor(s % 60)} s` : ""}`;
  return s >= 1 ? `${s.toFixed(1)} s` : `${(s * 1e3).toFixed(s >= 0.01 ? 0 : 1)} ms`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(0)} KiB` : `${(bytes / 1024 ** 2).toFixed(0)} MiB`;
}

/** Return the difference of two shares. */
export function points(share: number | null): string {
  return share === null ? "–" : `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)} points`;
}

/** Return an amount of money: small ones with the digits that tell them apart. */
export function formatDollars(dollars: number | null | undefined): string {
  return dollars == null ? "–" : `$${dollars < 0.1 ? Number(dollars.toPrecision(2)) : dollars.toFixed(2)}`;
}

export function percent(share: number | null | undefined): string {
  return share == null ? "–" : `${(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
}

/** Of fewer verdicts an interval is hatched. */
export const FEW = 30;

/** Return the interval of a rate in words; undefined where there is none. */
export function between(low: number | null | undefined, high: number | null | undefined): string | undefined {
  return low == null ? undefined : `95 % interval ${percent(low)} to ${percent(high)}`;
}

/** The 95 % interval of a rate as a thin bar; hatched where few verdicts are behind it. */
export function Interval({ low, high, n }: { low: number | null; high: number | null; n: number }) {
  if (low === null || high === null) return <div className="interval" />;
  const style = { left: `${low * 100}%`, width: `${Math.max(0.5, (high - low) * 100)}%` };
  return (
    <div className={`interval ${n < FEW ? "few" : ""}`} title={n < FEW ? `fewer than ${FEW} verdicts` : undefined}><i style={style} /></div>
  );
}

export const WINDOWS: [string, string][] = [["1", "hour"], ["24", "day"], ["168", "week"], ["720", "month"], ["8784", "year"]];

/** Return the window of a page in hours: that of its address, else its own. */
export function useHours(): string {
  return getParameter("hours") || pageOf(here().pathname)?.hours || "24";
}

export function nameOfWindow(hours: string): string {
  return WINDOWS.find(([value]) => value === hours)?.[1] ?? `${hours} hours`;
}

/** The head of a page: its question, or its verdict as a sentence, as a heading. */
export function Head({ title, state, children }: { title: string; state?: State; children?: ReactNode }) {
  useTitle(title, state);
  return (
    <div className="page-head">
      <h1>{state ? <StateMark state={state} text="" /> : null} {title}</h1>
      {children}
    </div>
  );
}

interface VerdictParts {
  /** Where the page is among others. */
  crumbs?: ReactNode;
  /** In front of the sentence. */
  mark?: ReactNode;
  sentence: string;
  state?: State | null;
  /** The name of the tab, where it is not the sentence. */
  title?: string;
  children?: ReactNode;
}

/** The head of a page about one thing: where it is, its verdict as a sentence, and what else is known of it. */
export function Verdict({ crumbs, mark, sentence, state, title = sentence, children }: VerdictParts) {
  useTitle(title, state);
  return (
    <div className="head-of-run">
      {crumbs ? <div className="dim">{crumbs}</div> : null}
      <h1>{mark} <Explanation text={sentence} /></h1>
      {children}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A column: its name, what a row has there, and the classes of its cells. */
export type Column<Row> = [head: ReactNode, cell: (row: Row) => ReactNode, kind?: string];

interface DataTableParts<Row> {
  label: string;
  rows: Row[];
  /** The first one names the row. */
  columns: Column<Row>[];
  idOf?: (row: Row) => string;
  /** What is shown where there are no rows. */
  empty?: ReactNode;
}

/** Rows of one kind as a table, which scrolls by itself where the screen is narrow. */
export function DataTable<Row>({ label, rows, columns, idOf, empty }: DataTableParts<Row>) {
  if (!rows.length && empty) return typeof empty === "string" ? <p className="dim">{empty}</p> : empty;
  return (
    <div className="table" tabIndex={0} role="region" aria-label={label}>
      <Table className="grid" highlightOnHover>
        <Table.Thead>
          <Table.Tr>{columns.map(([head, , kind], at) => <Table.Th key={at} scope="col" className={kind}>{head}</Table.Th>)}</Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, index) => (
            <Table.Tr key={index} id={idOf?.(row)}>
              {columns.map(([, cell, kind], at) => {
                const Cell = at === 0 ? Table.Th : Table.Td;
                return <Cell key={at} scope={at === 0 ? "row" : undefined} className={kind}>{show(cell(row))}</Cell>;
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Names with their values. */
export function Properties({ rows }: { rows: [name: ReactNode, value: ReactNode][] }) {
  return <dl className="facts">{rows.map(([name, value], index) => <Fragment key={index}><dt>{show(name)}</dt><dd>{show(value)}</dd></Fragment>)}</dl>;
}

/** A list with marks; nothing where it is empty. */
export function Items({ items }: { items: ReactNode[] }) {
  return items.length ? <ul className="behind">{items.map((item, index) => <li key={index}>{show(item)}</li>)}</ul> : null;
}

/** A link to a page of this console for the chosen project, in a new tab too; any other address stays as it is. */
export function Link(parts: ComponentProps<"a">) {
  return <a {...parts} href={parts.href && withProject(parts.href)} />;
}

export function RunLink({ trace, run, text, project }: { trace: string; run?: string; text?: string; project?: string }) {
  const name = text ? <Plain text={text} /> : <code>{trace.slice(0, 12)}</code>;
  if (report && !(`traces/${trace}` in report.answers)) return name;
  return <Link href={traceAddress(trace, { run, project })}>{name}</Link>;
}

/** The cause of failures, with a link to its page. */
export function ClusterLink({ cluster, hours }: { cluster: Schema["FailureCluster"]; hours: string }) {
  return (
    <>
      <Link href={`/failures/${cluster.id}?hours=${hours}`}><Plain text={cluster.name} /></Link>
      {cluster.new_since ? <div className="dim">new since <Plain text={cluster.new_since} /></div> : null}
    </>
  );
}

/** Counts over time as small bars. */
export function Trend({ counts, label }: { counts: number[]; label: string }) {
  const most = Math.max(...counts) || 1;
  return (
    <span className="trend" role="img" aria-label={label} title={label}>
      {counts.map((count, index) => <i key={index} style={{ height: `${count ? Math.max(12, (count / most) * 100) : 3}%` }} />)}
    </span>
  );
}

interface AddressSelectParts extends Omit<ComponentProps<typeof NativeSelect>, "onChange"> {
  /** The parameter of the address that holds what is chosen; an empty choice removes it. */
  parameter: string;
}

/** Choose a parameter of the address. */
export function AddressSelect({ parameter, ...parts }: AddressSelectParts) {
  const choose = (value: string) => go(addressWith({ [parameter]: value || null }));
  return <NativeSelect value={getParameter(parameter) ?? ""} {...parts} onChange={(event) => choose(event.currentTarget.value)} />;
}

const CARRIED = ["session", "user"];

interface DimensionSelectParts {
  label: string;
  names: string[];
  value: string;
  choose: (name: string) => void;
}

/** Choose a dimension: one of the cohort, a session or user, or any attribute by its key. */
export function DimensionSelect({ label, names, value, choose }: DimensionSelectParts) {
  const [isTyped, setTyped] = useState(false);
  const [key, setKey] = useState(value.match(/^attribute:(.*)/)?.[1] ?? "");
  const isAttribute = isTyped || value.startsWith("attribute:");
  const known = [...new Set([...names, ...CARRIED, ...(isAttribute ? [] : [value])])];
  const options = known.map((name) => ({ value: name, label: name.replace("_", " ") }));
  const take = () => key.trim() && choose(`attribute:${key.trim()}`);
  return (
    <span className="inline">
      <NativeSelect
        aria-label={label}
        value={isAttribute ? "attribute" : value}
        data={[...options, { value: "attribute", label: "attribute …" }]}
        onChange={({ currentTarget: { value: chosen } }) => {
          setTyped(chosen === "attribute");
          if (chosen !== "attribute") choose(chosen);
        }}
      />
      {isAttribute ? (
        <span className="inline within">
          <TextInput
            aria-label={`${label}: key of the attribute`}
            placeholder="tenant.id"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              take();
            }}
          />
          <Button onClick={take}>use it</Button>
        </span>
      ) : null}
    </span>
  );
}

/** Choose a layer, or all. */
export function LayerSelect({ every }: { every: string }) {
  return <AddressSelect parameter="layer" aria-label="Layer" data={[{ value: "", label: every }, ...LAYERS]} />;
}

const AUTHOR = "spanproof.author";

/** Who labels and silences: asked once, kept in this browser. */
export function author(): string {
  return localStorage.getItem(AUTHOR) ?? "human";
}

export function AuthorField() {
  return (
    <TextInput
      label="you"
      pattern="[a-z0-9_]{1,50}"
      title="lower-case letters, digits and _"
      defaultValue={author()}
      onInput={(event) => event.currentTarget.validity.valid && localStorage.setItem(AUTHOR, event.currentTarget.value || "human")}
    />
  );
}

/** Choose a suite of the workspace, or name a new one, and add runs to it. */
export function Promote({ runs, label = "promote" }: { runs: { trace_id: string; run_span_id?: string; project?: string }[]; label?: string }) {
  const [isOpen, setOpen] = useState(false);
  const sending = useSend();
  const suites = useAnswer<Schema["SuiteList"]>(isOpen ? "suites" : "");
  if (report) return null;
  const add = ({ suite }: Record<string, string>) =>
    sending.run<Schema["Promotions"]>("POST", "promotions", { suite, runs }, (answer) => {
      const added = answer.cases.filter((each) => each.change === "added").length;
      return `${added} added to ${answer.suite}, ${answer.cases.length - added} were there already`;
    });
  return (
    <>
      <Button leftSection={<FolderPlus size={14} />} aria-expanded={isOpen} disabled={!runs.length} onClick={() => setOpen(!isOpen)}>
        {label}
      </Button>
      {isOpen ? (
        <Form className="popup" submit={add}>
          <TextInput label="suite" name="suite" list="suites" required autoComplete="off" />
          <datalist id="suites">{suites.value?.suites.map((each) => <option key={each.name} value={each.name} />)}</datalist>
          <Button type="submit" variant="filled" disabled={sending.busy}>
            Add {runs.length === 1 ? "the run" : `${runs.length} runs`}
          </Button>
          <Sent sending={sending} />
        </Form>
      ) : null}
    </>
  );
}

/** Return a name with slashes as a part of an address. */
export function pathOf(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** The request that gives the same, where no command does. */
export function request(path: string): string {
  return `curl -s ${quoted(`${window.location.origin}/api/v1/${path}`)}`;
}
