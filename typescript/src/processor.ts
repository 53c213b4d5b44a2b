/** A span processor that adds code, executor, environment and cohort to the spans it passes on. */
import type { Attributes, Context } from "@opentelemetry/api"
import type { ReadableSpan, Span, SpanProcessor } from "@opentelemetry/sdk-trace-base"
import { type CodeTool, codeAttributes } from "./code.js"
import { type Cohort, cohortAttributes, cohortOf } from "./cohort.js"

export interface SpanproofOptions {
  /** The agent's tools that run code, by name. */
  codeTools?: Record<string, CodeTool>
  /** Cohort of spans that `withCohort` gives no other. */
  cohort?: Cohort
}

/**
 * Adds to spans of the AI SDK, of LangChain.js under OpenInference and of OTel GenAI instrumentations what
 * Spanproof needs to judge code, and passes them on. No exception of its own reaches the application.
 */
export class SpanproofSpanProcessor implements SpanProcessor {
  private readonly tools: Readonly<Record<string, CodeTool>>
  private readonly defaults: Cohort

  /** @param next exports the spans, such as a `BatchSpanProcessor` with an OTLP exporter. */
  constructor(
    private readonly next: SpanProcessor,
    options: SpanproofOptions = {},
  ) {
    this.tools = options.codeTools ?? {}
    this.defaults = options.cohort ?? {}
  }

  onStart(span: Span, parent: Context): void {
    try {
      span.setAttributes(cohortAttributes({ ...this.defaults, ...cohortOf(parent) }))
    } catch {
      // A span without a cohort is better than an agent that fails.
    }
    this.next.onStart(span, parent)
  }

  onEnd(span: ReadableSpan): void {
    this.next.onEnd(this.withCode(span))
  }

  forceFlush(): Promise<void> {
    return this.next.forceFlush()
  }

  shutdown(): Promise<void> {
    return this.next.shutdown()
  }

  /** Return the span, or a view of it with more attributes: other processors see it as it was. */
  private withCode(span: ReadableSpan): ReadableSpan {
    try {
      const added = codeAttributes(span.attributes, this.tools)
      return added === undefined ? span : viewOf(span, { ...added, ...span.attributes })
    } catch {
      return span
    }
  }
}

function viewOf(span: ReadableSpan, attributes: Attributes): ReadableSpan {
  return Object.create(span, { attributes: { value: attributes, enumerable: true } }) as ReadableSpan
}
