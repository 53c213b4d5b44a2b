/** The cohort of a run: what its scores are grouped and compared by. */
import { type Attributes, type Context, context, createContextKey } from "@opentelemetry/api"
import { COHORT_PREFIX, SESSION_ID, TAGS, USER_ID } from "./attributes.js"

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
  /** Conversation that the run belongs to, the same for each turn. */
  session?: string
  /** Id of the user that the run works for. */
  user?: string
  /** Words of your own. */
  tags?: readonly string[]
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
  const { project, task, promptVersion, release, fixtureSet, session, user, tags } = cohort
  const named = {
    [`${COHORT_PREFIX}project`]: project,
    [`${COHORT_PREFIX}task`]: task,
    [`${COHORT_PREFIX}prompt_version`]: promptVersion,
    [`${COHORT_PREFIX}release`]: release,
    [`${COHORT_PREFIX}fixture_set`]: fixtureSet,
    [SESSION_ID]: session,
    [USER_ID]: user,
  }
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(named)) {
    if (value !== undefined) attributes[name] = String(value)
  }
  if (tags !== undefined) attributes[TAGS] = tags.map(String)
  return attributes
}
