// The query line: `layer:groundedness label:fail tokens>1000 "box of tea" since:24h`, and what it asks of the API.

import { STATES } from "./api";

const DIMENSIONS = ["project", "service", "agent", "model", "prompt_version", "task", "language", "executor", "release"];
// What spans carry beside these: a session, a user, any attribute.
const SUBJECTS = ["session", "user"];
const ATTRIBUTE = "attribute";
const WORD = /(?:"(?:\\.|[^"\\])*"|[^\s"])+|"/g;
const LEAST: Record<string, string> = { latency: "min_seconds", tokens: "min_tokens", cost: "min_cost_usd" };

/** Parameters of a request; one that may be given often is a list. */
export type Parameters = Record<string, string | string[]>;

/** The window of the overview where its address names none. */
export const OVERVIEW_HOURS = "24";

const UNITS: Record<string, number> = { m: 1 / 60, h: 1, d: 24 };

export const NAMES = [
  ...["state:", "label:", "layer:", "since:", "feedback:", "latency>", "tokens>", "cost>"],
  ...[...DIMENSIONS, ...SUBJECTS, ATTRIBUTE].map((each) => `${each}:`),
];

/** Return the parameters of a request, or what cannot be read in the line. A word that names nothing is searched. */
export function readQuery(line: string): { parameters: Parameters; fault: string | null } {
  const parameters: Parameters = {};
  const where: string[] = [];
  const text: string[] = [];
  let fault: string | null = null;
  for (const [word] of line.matchAll(WORD)) {
    const [, name = "", raw = ""] = word.match(/^([\w.]+):(.*)$/s) ?? [];
    const [, amount = "", least = ""] = word.match(/^(latency|tokens|cost)>=?(\d+(?:\.\d+)?)(?:s|\$)?$/) ?? [];
    const value = unquote(raw);
    // How a state was written before there were five: what passes has nothing open.
    if (name === "label" && value === "fail") parameters.failing = "true";
    else if (name === "state" || name === "label") {
      parameters.state = value;
      if (!(STATES as string[]).includes(value)) fault = `${word} names no state; write state: and one of ${STATES.join(", ")}`;
    } else if (name === "layer" || name === "feedback") parameters[name] = value;
    else if (name === "since") {
      parameters.hours = String(Number(value.slice(0, -1)) * (UNITS[value.slice(-1)] ?? 1));
      if (!/^\d+[mhd]$/.test(value)) fault = `${word} is no time; write since:30m, since:24h or since:7d`;
    } else if (DIMENSIONS.includes(name)) parameters[name] = value;
    else if (SUBJECTS.includes(name)) where.push(`${name}=${value}`);
    else if (name === ATTRIBUTE && /^[^=]+=/.test(value)) where.push(`${ATTRIBUTE}:${value}`);
    else if (name === ATTRIBUTE) fault = `attribute:${value} has no value; write attribute:KEY=VALUE`;
    else if (amount) parameters[LEAST[amount]!] = least;
    else if (unquote(word).trim()) text.push(unquote(word));
  }
  if (parameters.layer && parameters.failing !== "true" && !parameters.state) fault ??= "layer: says which layer fails; add label:fail or a state";
  if (where.length) parameters.where = where;
  if (text.length) parameters.text = text;
  return { parameters, fault };
}

function unquote(word: string): string {
  return word.replace(/"((?:\\.|[^"\\])*)"?/g, (_, inner: string) => inner.replace(/\\(.)/g, "$1"));
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

const OPTIONS: Record<string, string> = {
  state: "--state", layer: "--layer", order: "--order", feedback: "--feedback", text: "--text",
  min_seconds: "--min-seconds", min_tokens: "--min-tokens", min_cost_usd: "--min-cost-usd", where: "--where",
};

/** Return a window as the command line takes it: in whole hours, else in minutes. */
function formatWindow(hours: number): string {
  return Number.isInteger(hours) ? `${hours}h` : `${Math.max(1, Math.round(hours * 60))}m`;
}

/** Return the command that lists the same. */
export function commandOf(parameters: Parameters): string {
  const words = ["spanproof traces"];
  if (parameters.failing === "true") words.push("--failing");
  if (parameters.hours) words.push(`--since ${formatWindow(Number(parameters.hours))}`);
  for (const [name, option] of Object.entries(OPTIONS)) {
    for (const value of [parameters[name] ?? []].flat()) words.push(`${option} ${quoted(value)}`);
  }
  for (const name of DIMENSIONS) {
    if (parameters[name] !== undefined) words.push(`--where ${quoted(`${name}=${parameters[name]}`)}`);
  }
  return words.join(" ");
}

/** Return a word as a shell reads it: what comes from a trace is quoted. */
export function quoted(word: string): string {
  return /^[\w.,:=@%+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
