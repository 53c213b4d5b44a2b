// The query line: `layer:groundedness label:fail agent:"refund clerk" since:24h`, and what it asks of the API.

const DIMENSIONS = ["project", "service", "agent", "model", "prompt_version", "task", "language", "executor", "release"];
const UNITS: Record<string, number> = { m: 1 / 60, h: 1, d: 24 };

export const NAMES = ["label:", "layer:", "since:", ...DIMENSIONS.map((each) => `${each}:`)];

/** Return the parameters of a request, or what cannot be read in the line. */
export function readQuery(line: string): { parameters: Record<string, string>; fault: string | null } {
  const parameters: Record<string, string> = {};
  let fault: string | null = null;
  for (const [, name = "", quoted, bare] of line.matchAll(/([\w.]+):(?:"([^"]*)"|(\S*))/g)) {
    const value = quoted ?? bare ?? "";
    if (name === "label" && (value === "fail" || value === "pass")) parameters.failing = String(value === "fail");
    else if (name === "layer") parameters.layer = value;
    else if (name === "since" && /^\d+[mhd]$/.test(value)) {
      parameters.hours = String(Number(value.slice(0, -1)) * (UNITS[value.slice(-1)] ?? 1));
    } else if (DIMENSIONS.includes(name)) parameters[name] = value;
    else fault = `${name}:${value} is not understood; write ${NAMES.join(" ")} with a value, since:24h, label:fail`;
  }
  if (line.replace(/([\w.]+):(?:"[^"]*"|\S*)/g, "").trim()) fault = "Write name:value pairs, such as label:fail";
  if (parameters.layer && parameters.failing !== "true") fault ??= "layer: says which layer fails; add label:fail";
  return { parameters, fault };
}

/** Return the word of a line that the cursor is at the end of: its name, and what is typed of its value. */
export function wordAt(line: string, cursor: number): { start: number; name: string; typed: string } | null {
  const before = line.slice(0, cursor);
  const start = before.match(/(?:[\w.]+:)?(?:"[^"]*|[^\s"]*)$/)?.index ?? cursor;
  const [name, typed] = before.slice(start).split(/:(.*)/s);
  return typed === undefined ? { start, name: "", typed: name ?? "" } : { start, name: name ?? "", typed: typed.replace(/^"/, "") };
}

/** Whether the values of a name are those of a dimension, which the store knows. */
export function isDimension(name: string): boolean {
  return DIMENSIONS.includes(name);
}

/** Return a pair of the query line. */
export function pair(name: string, value: string): string {
  return /[\s"]/.test(value) ? `${name}:"${value.replaceAll('"', "")}"` : `${name}:${value}`;
}

/** Return the command that lists the same. */
export function commandOf(parameters: Record<string, string>): string {
  const words = ["spanproof traces"];
  if (parameters.failing === "true") words.push("--failing");
  if (parameters.layer) words.push(`--layer ${parameters.layer}`);
  if (parameters.hours) words.push(`--since ${Math.max(1, Math.round(Number(parameters.hours) * 60))}m`);
  if (parameters.project) words.push(`--project ${JSON.stringify(parameters.project)}`);
  return words.join(" ");
}
