// The query line: `layer:groundedness label:fail agent:"refund clerk" since:24h`, and what it asks of the API.

import { STATES } from "./api";

const DIMENSIONS = ["project", "service", "agent", "model", "prompt_version", "task", "language", "executor", "release"];
// What spans carry beside these: a session, a user, any attribute.
const SUBJECTS = ["session", "user"];
const ATTRIBUTE = "attribute";
const WORD = /([\w.]+):((?:"(?:\\.|[^"\\])*"|[^\s"])*)/g;

/** Parameters of a request; one that may be given often is a list. */
export type Parameters = Record<string, string | string[]>;
const UNITS: Record<string, number> = { m: 1 / 60, h: 1, d: 24 };

export const NAMES = ["state:", "label:", "layer:", "since:", ...[...DIMENSIONS, ...SUBJECTS, ATTRIBUTE].map((each) => `${each}:`)];

/** Return the parameters of a request, or what cannot be read in the line. */
export function readQuery(line: string): { parameters: Parameters; fault: string | null } {
  const parameters: Parameters = {};
  const where: string[] = [];
  let fault: string | null = null;
  for (const [, name = "", raw = ""] of line.matchAll(WORD)) {
    const value = raw.replace(/"((?:\\.|[^"\\])*)"/g, (_, inner: string) => inner.replace(/\\(.)/g, "$1"));
    if (name === "state" && (STATES as string[]).includes(value)) parameters.state = value;
    // How a state was written before there were five: what passes has nothing open.
    else if (name === "label" && value === "fail") parameters.failing = "true";
    else if (name === "label" && value === "pass") parameters.state = "pass";
    else if (name === "layer") parameters.layer = value;
    else if (name === "since" && /^\d+[mhd]$/.test(value)) {
      parameters.hours = String(Number(value.slice(0, -1)) * (UNITS[value.slice(-1)] ?? 1));
    } else if (DIMENSIONS.includes(name)) parameters[name] = value;
    else if (SUBJECTS.includes(name)) where.push(`${name}=${value}`);
    else if (name === ATTRIBUTE && /^[^=]+=/.test(value)) where.push(`${ATTRIBUTE}:${value}`);
    else if (name === ATTRIBUTE) fault = `attribute:${value} has no value; write attribute:KEY=VALUE`;
    else fault = `${name}:${value} is not understood; write ${NAMES.join(" ")} with a value, since:24h, state:open`;
  }
  if (line.replace(WORD, "").trim()) fault = "Write name:value pairs, such as state:open";
  if (parameters.layer && parameters.failing !== "true" && !parameters.state) fault ??= "layer: says which layer fails; add label:fail or a state";
  if (where.length) parameters.where = where;
  return { parameters, fault };
}

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

/** Return the command that lists the same. */
export function commandOf(parameters: Parameters): string {
  const words = ["spanproof traces"];
  if (parameters.failing === "true") words.push("--failing");
  if (parameters.state) words.push(`--state ${parameters.state}`);
  if (parameters.layer) words.push(`--layer ${parameters.layer}`);
  if (parameters.hours) words.push(`--since ${Math.max(1, Math.round(Number(parameters.hours) * 60))}m`);
  for (const name of DIMENSIONS) {
    if (parameters[name] !== undefined) words.push(`--where ${quoted(`${name}=${parameters[name]}`)}`);
  }
  for (const each of parameters.where ?? []) words.push(`--where ${quoted(each)}`);
  return words.join(" ");
}

/** Return a word as a shell reads it: what comes from a trace is quoted. */
export function quoted(word: string): string {
  return /^[\w.,:=@%+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
