// Real agents of the OpenAI Agents SDK and of LangGraph.js with scripted models: `node frameworks.mjs ENDPOINT`.
import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain"
import { OpenAIAgentsInstrumentation } from "@arizeai/openinference-instrumentation-openai-agents"
import * as callbacks from "@langchain/core/callbacks/manager"
import { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessage } from "@langchain/core/messages"
import { tool as langchainTool } from "@langchain/core/tools"
import { createReactAgent } from "@langchain/langgraph/prebuilt"
import * as agents from "@openai/agents"
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto"
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node"
import OpenAI from "openai"
import { z } from "zod"
import { SpanproofSpanProcessor, withCohort } from "../dist/index.js"

const [, , endpoint] = process.argv
const CODE = "lines = [1999, 2501]\nprint(sum(lines))"
const TASK = "Add up the lines of order A-17."
const ANSWER = "The lines add up to 4500 cents."
const RUN_PYTHON = {
  name: "run_python",
  description: "Runs Python and returns what it prints.",
}

const provider = new NodeTracerProvider({
  spanProcessors: [
    new SpanproofSpanProcessor(
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })),
      {
        cohort: { project: "shop" },
        codeTools: {
          run_python: {
            language: "python",
            executor: { type: "local", version: "python 3.11.7" },
            environment: { python: "3.11.7", packages: {} },
          },
        },
      },
    ),
  ],
})
provider.register()
new LangChainInstrumentation({ tracerProvider: provider }).manuallyInstrument(callbacks)
new OpenAIAgentsInstrumentation({ tracerProvider: provider }).manuallyInstrument(agents)

const call = { id: "call-1", type: "function", function: { name: "run_python", arguments: JSON.stringify({ code: CODE }) } }
const completions = [
  { role: "assistant", content: null, tool_calls: [call] },
  { role: "assistant", content: ANSWER },
]

function answerRequest() {
  const message = completions.shift()
  const body = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, message, finish_reason: message.tool_calls ? "tool_calls" : "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }
  return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } })
}

async function runOpenAIAgents() {
  const client = new OpenAI({ apiKey: "none", baseURL: "http://scripted.invalid", fetch: async () => answerRequest() })
  const clerk = new agents.Agent({
    name: "clerk",
    instructions: "You add up orders.",
    model: new agents.OpenAIChatCompletionsModel(client, "scripted"),
    tools: [agents.tool({ ...RUN_PYTHON, parameters: z.object({ code: z.string() }), execute: async () => "4500\n" })],
  })
  await agents.run(clerk, TASK)
}

class ScriptedModel extends BaseChatModel {
  replies = [
    new AIMessage({ content: "", tool_calls: [{ id: "call-1", name: "run_python", args: { code: CODE } }] }),
    new AIMessage(ANSWER),
  ]

  _llmType() {
    return "scripted"
  }

  bindTools() {
    return this
  }

  async _generate() {
    const message = this.replies.shift()
    return { generations: [{ text: message.text, message }] }
  }
}

async function runLangGraph() {
  const run = langchainTool(async () => "4500\n", { ...RUN_PYTHON, schema: z.object({ code: z.string() }) })
  const graph = createReactAgent({ llm: new ScriptedModel({}), tools: [run], name: "clerk" })
  await graph.invoke({ messages: [{ role: "user", content: TASK }] })
}

await withCohort({ promptVersion: "v12", task: "refunds" }, async () => {
  await runOpenAIAgents()
  await runLangGraph()
})
await provider.shutdown()
