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

/** Go to another address of this console. */
export function go(to: string, replace = false): void {
  if (replace) history.replace(to);
  else history.push(to);
}

/** Follow a plain click on a link of this console without a new document. */
export function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.origin !== window.location.origin || link.hash) return;
  event.preventDefault();
  go(withProject(link.getAttribute("href")!));
  window.scrollTo(0, 0);
}

/** Return an address for the project that is chosen, where it names none. */
function withProject(to: string): string {
  const [path, query] = to.split("?", 2);
  const given = new URLSearchParams(query);
  const project = chosenProject();
  if (project === null || given.has("project")) return to;
  return `${path}?${query ? `${query}&` : ""}${new URLSearchParams({ project })}`;
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

// The project and the window are those of every page: links between pages keep them.
const KEPT = ["project", "hours"];

/** Return the address of another page for the same project and window. */
export function addressOf(path: string): string {
  const given = here().searchParams;
  const kept = new URLSearchParams(KEPT.flatMap((name) => (given.has(name) ? [[name, given.get(name)!]] : [])));
  return kept.size ? `${path}?${kept}` : path;
}

/** Return the project that is chosen; null is every project. */
export function chosenProject(): string | null {
  return here().searchParams.get("project");
}

// The project of what names none; a trace of it is found by its id alone, unless another project has that id too.
const DEFAULT_PROJECT = "default";

/** Return the address of a trace; its project is part of its name. */
export function traceAddress(trace: string, given: { run?: string; project?: string } = {}): string {
  const project = given.project && given.project !== DEFAULT_PROJECT ? given.project : chosenProject();
  const pairs = { ...(given.run ? { run: given.run } : {}), ...(project ? { project } : {}) };
  const query = new URLSearchParams(pairs).toString();
  return `/traces/${trace}${query ? `?${query}` : ""}`;
}
