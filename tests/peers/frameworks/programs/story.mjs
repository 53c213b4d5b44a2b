// The story of `story.py` for frameworks of JavaScript: `node NAME.mjs URL TARGET` records it with URL's model.
import { writeFileSync } from "node:fs"
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer"
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node"

export const INSTRUCTIONS = "Be exact."
export const TASK = "What do three boxes cost?"
export const MODEL = "gpt-4o-mini"
export const RUN_PYTHON = "Run Python code and return what it prints."
export const STOCK_OF = "Return how many boxes a shelf holds."

// The model's only snippet is known, and nothing is run.
export const runPython = async () => "36"

class StockError extends Error {
  name = "StockError"
}

export const stockOf = async ({ shelf }) => {
  throw new StockError(`no shelf ${shelf}`)
}

// Call `run` with the URL of the model, a provider and its exporter, and write the spans it makes as OTLP JSON.
// Frameworks that export spans of their own get the exporter alone: a global provider would get their older ones too.
export async function record(run, isGlobal = true) {
  const [, , url, target] = process.argv
  const exporter = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  if (isGlobal) provider.register()
  await run(url, provider, exporter)
  await provider.forceFlush()
  const request = JSON.parse(new TextDecoder().decode(JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans())))
  for (const { resource } of request.resourceSpans) {
    resource.attributes = [{ key: "service.name", value: { stringValue: "shop" } }]
  }
  writeFileSync(target, `${JSON.stringify(request, null, 1)}\n`)
}
