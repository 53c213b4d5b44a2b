// The URL is the state: pages read it, links and filters write it.
import { createBrowserHistory, createHashHistory } from "@tanstack/react-router";
import { report } from "./answers";

// A page that is one file keeps its address in the fragment.
if (report && !window.location.hash) window.history.replaceState(null, "", `#${report.route}`);

export const history = report ? createHashHistory() : createBrowserHistory();

/** Return where the page is. */
export function here(): URL {
  return new URL(history.location.href, "http://console.invalid");
}

/** Return a parameter of the address; null where it has none. */
export function getParameter(name: string): string | null {
  return here().searchParams.get(name);
}

/** Go to another address of this console. */
export function go(to: string, replace = false): void {
  if (replace) history.replace(to);
  else history.push(to);
}

/** Follow a plain click on a link of this console without a new document. */
export function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.target || link.origin !== window.location.origin || link.hash) return;
  event.preventDefault();
  go(link.getAttribute("href")!);
  window.scrollTo(0, 0);
}

/** Return an address with more parameters. */
export function joinQuery(path: string, pairs: Record<string, string>): string {
  const query = new URLSearchParams(pairs).toString();
  return query ? `${path}${path.includes("?") ? "&" : "?"}${query}` : path;
}

/** Return an address of this console for the project that is chosen, where it names none. */
export function withProject(to: string): string {
  const isNamed = new URLSearchParams(to.split("?")[1]).has("project");
  return to.startsWith("/") && !isNamed ? joinQuery(to, ofProject()) : to;
}

/** Whether a key is typed into a field, and so means nothing to the page. */
export function isTyping(event: KeyboardEvent): boolean {
  const field = event.target as HTMLElement;
  return field.matches?.("textarea, select, input:not([type=checkbox])") ?? false;
}

/** Return the address of the same view with other parameters. */
export function addressWith(change: Record<string, string | null>): string {
  const url = here();
  for (const [name, value] of Object.entries(change)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.pathname + url.search;
}

/** Return the address of another page for the same project and window: those are of every page. */
export function addressOf(path: string): string {
  const hours = getParameter("hours");
  return joinQuery(path, { ...ofProject(), ...(hours === null ? {} : { hours }) });
}

/** Return the address of the traces that a query line chooses. */
export function addressOfTraces(query: string): string {
  return `/traces?q=${encodeURIComponent(query)}`;
}

/** Return the project that is chosen; null is every project. */
export function chosenProject(): string | null {
  return getParameter("project");
}

/** Return the project that is chosen as a parameter; none where it is every project. */
export function ofProject(project = chosenProject()): Record<string, string> {
  return project === null ? {} : { project };
}

// The project of what names none; a trace of it is found by its id alone, unless another project has that id too.
const DEFAULT_PROJECT = "default";

/** Return the address of a trace; its project is part of its name. */
export function traceAddress(trace: string, given: { run?: string; project?: string } = {}): string {
  const project = given.project && given.project !== DEFAULT_PROJECT ? given.project : chosenProject();
  return joinQuery(`/traces/${trace}`, { ...(given.run ? { run: given.run } : {}), ...(project ? { project } : {}) });
}
