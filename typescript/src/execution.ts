/** The outcome of running code, recorded from within the tool that runs it. */
import { type Attributes, type Span, trace } from "@opentelemetry/api"
import * as names from "./attributes.js"

export interface Execution {
  /** What the code printed. */
  logs?: string
  /** The value it ended with. */
  output?: unknown
}

/** Record on the span of the tool call, which is the active one within a tool of the AI SDK, how its code ended. */
export function recordExecution(execution: Execution, span: Span | undefined = trace.getActiveSpan()): void {
  try {
    span?.setAttributes(executionAttributes(execution))
  } catch {
    // A value that cannot be written as JSON must not break the tool.
  }
}

function executionAttributes({ logs, output }: Execution): Attributes {
  const attributes: Attributes = logs === undefined ? {} : { [names.EXECUTION_LOGS]: logs }
  if (output === undefined) return attributes
  const isText = typeof output === "string"
  const text = isText ? output : JSON.stringify(output)
  if (text === undefined) return attributes
  const type = isText ? "text/plain" : "application/json"
  return { ...attributes, [names.EXECUTION_OUTPUT]: text, [names.EXECUTION_OUTPUT_MIME_TYPE]: type }
}
