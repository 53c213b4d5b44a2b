// The AI SDK 7 with its own spans, by `@ai-sdk/otel`.
import { createOpenAI } from "@ai-sdk/openai"
import { OpenTelemetry } from "@ai-sdk/otel"
import { generateText, registerTelemetry, stepCountIs, tool } from "ai"
import { z } from "zod"
import { INSTRUCTIONS, MODEL, RUN_PYTHON, record, runPython, STOCK_OF, stockOf, TASK } from "./story.mjs"

await record(async (baseURL) => {
  registerTelemetry(new OpenTelemetry())
  await generateText({
    model: createOpenAI({ baseURL, apiKey: "none" }).chat(MODEL),
    instructions: INSTRUCTIONS,
    prompt: TASK,
    stopWhen: stepCountIs(5),
    telemetry: { functionId: "clerk" },
    tools: {
      run_python: tool({ description: RUN_PYTHON, inputSchema: z.object({ code: z.string() }), execute: runPython }),
      stock_of: tool({ description: STOCK_OF, inputSchema: z.object({ shelf: z.number() }), execute: stockOf }),
    },
  })
})
