// Mastra's own spans before version 1, as its exporter for OpenTelemetry writes them.
import { createOpenAI } from "@ai-sdk/openai"
import { Agent } from "@mastra/core/agent"
import { Mastra } from "@mastra/core/mastra"
import { createTool } from "@mastra/core/tools"
import { OtelExporter } from "@mastra/otel-exporter"
import { z } from "zod"
import { INSTRUCTIONS, MODEL, RUN_PYTHON, record, runPython, STOCK_OF, stockOf, TASK } from "./story.mjs"

await record(async (baseURL, _, exporter) => {
  const run_python = createTool({
    id: "run_python",
    description: RUN_PYTHON,
    inputSchema: z.object({ code: z.string() }),
    execute: ({ context }) => runPython(context),
  })
  const stock_of = createTool({
    id: "stock_of",
    description: STOCK_OF,
    inputSchema: z.object({ shelf: z.number() }),
    execute: ({ context }) => stockOf(context),
  })
  const model = createOpenAI({ baseURL, apiKey: "none" }).chat(MODEL)
  const clerk = new Agent({ name: "clerk", instructions: INSTRUCTIONS, model, tools: { run_python, stock_of } })
  // The exporter wants to know where the spans go, even where another sends them.
  const provider = { custom: { endpoint: `${baseURL}/traces` } }
  const exporters = [new OtelExporter({ provider, exporter })]
  const configs = { shop: { serviceName: "shop", exporters } }
  const mastra = new Mastra({ agents: { clerk }, observability: { configs }, logger: false })
  await mastra.getAgent("clerk").generate(TASK)
  // A shutdown is this version's only way to flush, and would empty the exporter.
  exporter.shutdown = async () => {}
  await exporters[0].shutdown()
}, false)
