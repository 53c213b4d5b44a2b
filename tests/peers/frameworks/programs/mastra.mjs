// Mastra's own spans, as its exporter for OpenTelemetry writes them, from version 1.16.
import { createOpenAI } from "@ai-sdk/openai"
import { Agent } from "@mastra/core/agent"
import { Mastra } from "@mastra/core/mastra"
import { createTool } from "@mastra/core/tools"
import { Observability } from "@mastra/observability"
import { OtelExporter } from "@mastra/otel-exporter"
import { z } from "zod"
import { INSTRUCTIONS, MODEL, RUN_PYTHON, record, runPython, STOCK_OF, stockOf, TASK } from "./story.mjs"

await record(async (baseURL, _, exporter) => {
  const run_python = createTool({
    id: "run_python",
    description: RUN_PYTHON,
    inputSchema: z.object({ code: z.string() }),
    execute: runPython,
  })
  const stock_of = createTool({
    id: "stock_of",
    description: STOCK_OF,
    inputSchema: z.object({ shelf: z.number() }),
    execute: stockOf,
  })
  const model = createOpenAI({ baseURL, apiKey: "none" }).chat(MODEL)
  const clerk = new Agent({ id: "clerk", name: "clerk", instructions: INSTRUCTIONS, model, tools: { run_python, stock_of } })
  // The exporter wants to know where the spans go, even where another sends them.
  const provider = { custom: { endpoint: `${baseURL}/traces` } }
  const exporters = [new OtelExporter({ provider, exporter, signals: { logs: false } })]
  const observability = new Observability({ configs: { shop: { serviceName: "shop", exporters } } })
  const mastra = new Mastra({ agents: { clerk }, observability })
  await mastra.getAgent("clerk").generate(TASK)
  await observability.getDefaultInstance().flush()
}, false)
