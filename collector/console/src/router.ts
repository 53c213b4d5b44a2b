// The URL is the state: views read it, links and filters write it.
import { signal } from "@preact/signals";

export const location = signal(new URL(window.location.href));

/** Go to another address of this console. */
export function go(to: string, replace = false): void {
  const url = new URL(to, window.location.href);
  history[replace ? "replaceState" : "pushState"](null, "", url);
  location.value = url;
}

window.addEventListener("popstate", () => {
  location.value = new URL(window.location.href);
});

document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.origin !== window.location.origin || link.hash) return;
  event.preventDefault();
  go(link.href);
  window.scrollTo(0, 0);
});

/** Whether a key is typed into a field, and so means nothing to the page. */
export function typing(event: KeyboardEvent): boolean {
  const field = event.target as HTMLElement;
  return field.matches?.("textarea, select, input:not([type=checkbox])") ?? false;
}
