// The OpenAI Agents SDK of JavaScript under OpenInference's instrumentor.
import { OpenAIAgentsInstrumentation } from "@arizeai/openinference-instrumentation-openai-agents"
import * as agents from "@openai/agents"
import OpenAI from "openai"
import { z } from "zod"
import { INSTRUCTIONS, MODEL, RUN_PYTHON, record, runPython, STOCK_OF, stockOf, TASK } from "./story.mjs"

await record(async (baseURL, tracerProvider) => {
  new OpenAIAgentsInstrumentation({ tracerProvider }).manuallyInstrument(agents)
  const clerk = new agents.Agent({
    name: "clerk",
    instructions: INSTRUCTIONS,
    model: new agents.OpenAIChatCompletionsModel(new OpenAI({ baseURL, apiKey: "none" }), MODEL),
    tools: [
      agents.tool({
        name: "run_python",
        description: RUN_PYTHON,
        parameters: z.object({ code: z.string() }),
        execute: runPython,
      }),
      agents.tool({
        name: "stock_of",
        description: STOCK_OF,
        parameters: z.object({ shelf: z.number() }),
        execute: stockOf,
      }),
    ],
  })
  await agents.run(clerk, TASK)
})
