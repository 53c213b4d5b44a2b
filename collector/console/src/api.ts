// Requests to the API. Types are generated from its OpenAPI description.
import type { Parameters } from "./query";
import { report } from "./answers";
import type { components } from "./schema";

export type Schema = components["schemas"];
export type Layer = Schema["Layer"];

export type State = Schema["State"];

/** The states, the gravest first. */
export const STATES: State[] = ["fail", "errored", "open", "pass", "skipped"];

export const LAYERS: Layer[] = ["correctness", "boundary", "execution", "groundedness", "trajectory"];

/** An error of the API, with what it says to do. */
export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const TOKEN = "spanproof.token";

export function setToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

function headers(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { authorization: `Bearer ${token}` } : {};
}

async function ask(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}`, options);
  } catch (fault) {
    if (options.signal?.aborted) throw fault;
    throw new ApiError(0, "The server does not answer. This page goes on once it is back.");
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({ detail: response.statusText }));
    throw new ApiError(response.status, String(problem.detail));
  }
  return response;
}

function withParameters(path: string, parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const query = new URLSearchParams(pairs).toString();
  return query ? `${path}?${query}` : path;
}

// Answers that were asked for before a page wanted them, by what was asked.
const early = new Map<string, Promise<unknown>>();

/** Ask for what a page will want; it is given to whoever asks for it first. */
export function askEarly(path: string, parameters: Parameters): void {
  const answer = get(path, parameters);
  early.set(withParameters(path, parameters), answer);
  // Whoever asks for it hears of the fault.
  answer.catch(() => undefined);
}

/** Return the answer to a request, as JSON. */
export async function get<T>(path: string, parameters: Parameters = {}): Promise<T> {
  if (report) {
    if (path in report.answers) return report.answers[path] as T;
    throw new ApiError(404, "This file does not hold that page.");
  }
  const address = withParameters(path, parameters);
  const asked = early.get(address);
  if (asked) {
    early.delete(address);
    return (await asked) as T;
  }
  const response = await ask(address, { headers: headers() });
  return (await response.json()) as T;
}

/** Return the answer to a request, as a file. */
export async function getFile(path: string, parameters: Parameters): Promise<Blob> {
  return (await ask(withParameters(path, parameters), { headers: headers() })).blob();
}

/** Send what a person decided, and return the answer. */
export async function send<T>(method: "POST" | "DELETE", path: string, body?: unknown): Promise<T> {
  const response = await ask(path, {
    method,
    headers: { ...headers(), "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return (await response.json()) as T;
}

/** Call back with each trace as it is evaluated, until `stop` is aborted or the stream ends. */
export async function follow(stop: AbortSignal, onOpen: () => void, onTrace: (row: Schema["TraceRow"]) => void): Promise<void> {
  const response = await ask("live", { headers: headers(), signal: stop });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop()!;
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data) onTrace(JSON.parse(data.slice(6)) as Schema["TraceRow"]);
      else onOpen();
    }
  }
}
