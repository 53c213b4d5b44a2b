export type { CodeTool, Language } from "./code.js"
export { type Cohort, withCohort } from "./cohort.js"
export { type Execution, recordExecution } from "./execution.js"
export { type SpanproofOptions, SpanproofSpanProcessor } from "./processor.js"
