// The AI SDK 4 with its own spans. A tool that throws ends a run of this version: it gives the error back.
import { createOpenAI } from "@ai-sdk/openai"
import { generateText, tool } from "ai"
import { z } from "zod"
import { INSTRUCTIONS, MODEL, RUN_PYTHON, record, runPython, STOCK_OF, stockOf, TASK } from "./story.mjs"

const describeFailure = (error) => `${error.name}: ${error.message}`

await record(async (baseURL) => {
  await generateText({
    model: createOpenAI({ baseURL, apiKey: "none" })(MODEL),
    system: INSTRUCTIONS,
    prompt: TASK,
    maxSteps: 5,
    experimental_telemetry: { isEnabled: true, functionId: "clerk" },
    tools: {
      run_python: tool({ description: RUN_PYTHON, parameters: z.object({ code: z.string() }), execute: runPython }),
      stock_of: tool({
        description: STOCK_OF,
        parameters: z.object({ shelf: z.number() }),
        execute: (given) => stockOf(given).catch(describeFailure),
      }),
    },
  })
})
