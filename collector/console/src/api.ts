// Requests to the API. Types are generated from its OpenAPI description.
import type { components } from "./schema";

export type Schema = components["schemas"];
export type Layer = Schema["Layer"];
export type Verdict = Schema["Verdict"];

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

/** Return the answer to a request, as JSON. */
export async function get<T>(path: string, parameters: Record<string, string> = {}): Promise<T> {
  const query = new URLSearchParams(parameters).toString();
  const token = sessionStorage.getItem(TOKEN);
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}${query ? `?${query}` : ""}`, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });
  } catch {
    throw new ApiError(0, "The server does not answer. Reload once it is back.");
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({ detail: response.statusText }));
    throw new ApiError(response.status, String(problem.detail));
  }
  return (await response.json()) as T;
}
