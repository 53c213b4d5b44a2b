// Small parts that every view uses.
import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { ApiError, get, setToken, type Schema, type Verdict } from "./api";

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const MARKS: Record<Verdict, string> = { pass: "✓", fail: "✗", open: "?", skipped: "–", errored: "!" };

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

/** A verdict: mark, word and value; never colour alone. */
export function Outcome({ outcome, label }: { outcome: Schema["Outcome"] | undefined; label?: string }) {
  if (!outcome) return <span class="verdict skipped">–</span>;
  const value = outcome.value === null ? "" : ` ${outcome.value.toFixed(2)}`;
  return (
    <span class={`verdict ${outcome.verdict}`} title={outcome.explanation}>
      {label ? `${label} ` : ""}
      {MARKS[outcome.verdict]} {outcome.verdict}
      {value}
    </span>
  );
}

export interface Loaded<T> {
  value: T | null;
  error: ApiError | null;
}

/** Load an answer whenever what is wanted changes. */
export function useAnswer<T>(path: string, parameters: Record<string, string> = {}): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { key: string }>({ value: null, error: null, key: "" });
  const key = path + JSON.stringify(parameters);
  useEffect(() => {
    let current = true;
    get<T>(path, parameters).then(
      (value) => current && setState({ value, error: null, key }),
      (error) => current && setState({ value: null, error, key }),
    );
    return () => {
      current = false;
    };
  }, [key]);
  return state.key === key ? state : { value: null, error: null };
}

/** Show what was loaded, a skeleton before that, or the error with what to do. */
export function Shown<T>({ loaded, children }: { loaded: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (loaded.error?.status === 401) return <TokenForm />;
  if (loaded.error) {
    return (
      <div class="problem" role="alert">
        <Plain text={loaded.error.message} />
      </div>
    );
  }
  if (loaded.value === null) {
    return (
      <div aria-busy="true" aria-label="loading">
        {[80, 60, 70, 40].map((width) => (
          <div class="skeleton" style={{ width: `${width}%` }} />
        ))}
      </div>
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
  return new Date(ns / 1e6).toISOString().replace("T", " ").slice(5, 19);
}

export function formatDuration(ns: number): string {
  const s = ns / 1e9;
  if (s >= 60) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  return s >= 1 ? `${s.toFixed(1)} s` : `${(s * 1e3).toFixed(s >= 0.01 ? 0 : 1)} ms`;
}
