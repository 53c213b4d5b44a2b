// LangGraph of JavaScript under OpenInference's instrumentor.
import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain"
import * as callbacks from "@langchain/core/callbacks/manager"
import { tool } from "@langchain/core/tools"
import { createReactAgent } from "@langchain/langgraph/prebuilt"
import { ChatOpenAI } from "@langchain/openai"
import { z } from "zod"
import { INSTRUCTIONS, MODEL, RUN_PYTHON, record, runPython, STOCK_OF, stockOf, TASK } from "./story.mjs"

await record(async (baseURL, tracerProvider) => {
  new LangChainInstrumentation({ tracerProvider }).manuallyInstrument(callbacks)
  const llm = new ChatOpenAI({ model: MODEL, apiKey: "none", configuration: { baseURL } })
  const tools = [
    tool(runPython, { name: "run_python", description: RUN_PYTHON, schema: z.object({ code: z.string() }) }),
    tool(stockOf, { name: "stock_of", description: STOCK_OF, schema: z.object({ shelf: z.number() }) }),
  ]
  const graph = createReactAgent({ llm, tools, prompt: INSTRUCTIONS, name: "clerk" })
  await graph.invoke({ messages: [{ role: "user", content: TASK }] })
})
