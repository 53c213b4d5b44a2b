// The query line: `layer:groundedness label:fail tokens>1000 "box of tea" since:24h`. The API reads it; here it is
// completed and changed.

const DIMENSIONS = ["project", "service", "agent", "model", "prompt_version", "task", "language", "executor", "release"];
// What spans carry beside these: a session, a user, any attribute.
const SUBJECTS = ["session", "user"];
const ATTRIBUTE = "attribute";

/** Parameters of a request; one that may be given often is a list. */
export type Parameters = Record<string, string | string[]>;

/** The window of the overview where its address names none. */
export const OVERVIEW_HOURS = "24";

export const NAMES = [
  ...["state:", "label:", "layer:", "since:", "feedback:", "latency>", "tokens>", "cost>"],
  ...[...DIMENSIONS, ...SUBJECTS, ATTRIBUTE].map((each) => `${each}:`),
];

/** Return the word of a line that the cursor is at the end of: its name, and what is typed of its value. */
export function wordAt(line: string, cursor: number): { start: number; name: string; typed: string } | null {
  const before = line.slice(0, cursor);
  const start = before.match(/(?:[\w.]+:)?(?:"(?:\\.|[^"\\])*"?|[^\s"])*$/)?.index ?? cursor;
  const [name, typed] = before.slice(start).split(/:(.*)/s);
  if (typed === undefined) return { start, name: "", typed: name ?? "" };
  const plain = typed.replaceAll('"', "");
  const [key, value] = plain.split(/=(.*)/s);
  if (name === ATTRIBUTE && value !== undefined) return { start, name: `${ATTRIBUTE}:${key}`, typed: value };
  return { start, name: name ?? "", typed: plain };
}

/** Whether the values of a name are those of a dimension, which the store knows. */
export function isDimension(name: string): boolean {
  return DIMENSIONS.includes(name) || SUBJECTS.includes(name) || name.startsWith(`${ATTRIBUTE}:`);
}

/** Return a pair of the query line; an attribute's key and value are one value of it. */
export function pair(dimension: string, value: string): string {
  const [name = "", key] = dimension.split(/:(.*)/s);
  const said = key === undefined ? value : `${key}=${value}`;
  return `${name}:${/[\s"\\]/.test(said) ? `"${said.replace(/["\\]/g, "\\$&")}"` : said}`;
}

/** Return a query line with another state, or with none. */
export function withState(line: string, state: string | null): string {
  const others = line.replace(/(?:^|\s)(?:state|label):\S*/g, " ");
  const kept = state ? others : others.replace(/(?:^|\s)layer:\S*/g, " ");
  return [state ? `state:${state}` : "", kept.trim().replace(/\s+/g, " ")].filter(Boolean).join(" ");
}

/** Return a word as a shell reads it: what comes from a trace is quoted. */
export function quoted(word: string): string {
  return /^[\w.,:=@%+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
