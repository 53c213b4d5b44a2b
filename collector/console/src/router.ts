// The URL is the state: views read it, links and filters write it.
import { signal } from "@preact/signals";
import { report } from "./report";

/** Return where the page is; a page that is one file keeps its address in the fragment. */
function read(): URL {
  if (!report) return new URL(window.location.href);
  const fragment = window.location.hash.slice(1);
  return new URL(fragment.startsWith("/") ? fragment : report.route, "http://report.invalid");
}

export const location = signal(read());

/** Go to another address of this console. */
export function go(to: string, replace = false): void {
  const url = new URL(to, location.value);
  history[replace ? "replaceState" : "pushState"](null, "", report ? `#${url.pathname}${url.search}` : url);
  location.value = url;
}

window.addEventListener("popstate", () => {
  location.value = read();
});

document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.origin !== window.location.origin || link.hash) return;
  event.preventDefault();
  go(link.getAttribute("href")!);
  window.scrollTo(0, 0);
});

/** Whether a key is typed into a field, and so means nothing to the page. */
export function typing(event: KeyboardEvent): boolean {
  const field = event.target as HTMLElement;
  return field.matches?.("textarea, select, input:not([type=checkbox])") ?? false;
}
