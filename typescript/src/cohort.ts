/** The cohort of a run: what its scores are grouped and compared by. */
import { type Attributes, type Context, context, createContextKey } from "@opentelemetry/api"
import { COHORT_PREFIX } from "./attributes.js"

export interface Cohort {
  /** Project of the scores. */
  project?: string
  /** Kind of task, the same for all runs that are compared. */
  task?: string
  /** Version of the prompt that the agent runs with. */
  promptVersion?: string
  /** Release of the application. */
  release?: string
  /** Set of recorded data that the run works on. */
  fixtureSet?: string
}

const KEY = createContextKey("spanproof-cohort")

/** Run `body` so that every span it starts carries the cohort; nested calls add up. */
export function withCohort<T>(cohort: Cohort, body: () => T): T {
  const active = context.active()
  return context.with(active.setValue(KEY, { ...cohortOf(active), ...cohort }), body)
}

/** Return the cohort of a context. */
export function cohortOf(active: Context): Cohort {
  return (active.getValue(KEY) as Cohort | undefined) ?? {}
}

/** Return the attributes of a cohort. */
export function cohortAttributes(cohort: Cohort): Attributes {
  const { project, task, promptVersion, release, fixtureSet } = cohort
  const named = { project, task, prompt_version: promptVersion, release, fixture_set: fixtureSet }
  return Object.fromEntries(
    Object.entries(named)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [COHORT_PREFIX + name, String(value)]),
  )
}
