// Real agents of the AI SDK and of LangChain.js with scripted models, exported by one of OpenTelemetry's own
// exporters: `node agents.mjs http/protobuf|http/json|grpc ENDPOINT`.
import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain"
import * as callbacks from "@langchain/core/callbacks/manager"
import { tool as langchainTool } from "@langchain/core/tools"
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc"
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http"
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto"
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node"
import { generateText, stepCountIs, tool } from "ai"
import { MockLanguageModelV2 } from "ai/test"
import { z } from "zod"
import { recordExecution, SpanproofSpanProcessor, withCohort } from "../dist/index.js"

const [, , protocol, endpoint] = process.argv
const CODE = 'lines = [1999, 2501]\nprint(sum(lines))'

const exporter =
  protocol === "grpc"
    ? new GrpcExporter({ url: endpoint })
    : new { "http/json": JsonExporter, "http/protobuf": ProtobufExporter }[protocol]({ url: `${endpoint}/v1/traces` })
const provider = new NodeTracerProvider({
  spanProcessors: [
    new SpanproofSpanProcessor(new BatchSpanProcessor(exporter), {
      cohort: { project: "shop", release: "2026.11" },
      codeTools: {
        run_python: {
          language: "python",
          executor: { type: "local", version: "python 3.11.7" },
          environment: { python: "3.11.7", packages: {} },
        },
      },
    }),
  ],
})
provider.register()
const langchain = new LangChainInstrumentation({ tracerProvider: provider })
langchain.manuallyInstrument(callbacks)

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
const replies = [
  {
    finishReason: "tool-calls",
    usage,
    warnings: [],
    content: [
      { type: "tool-call", toolCallId: "call-1", toolName: "run_python", input: JSON.stringify({ code: CODE }) },
    ],
  },
  { finishReason: "stop", usage, warnings: [], content: [{ type: "text", text: "The lines add up to 4500 cents." }] },
]

async function runAiSdk() {
  await generateText({
    model: new MockLanguageModelV2({ modelId: "scripted", doGenerate: async () => replies.shift() }),
    prompt: "Add up the lines of order A-17.",
    stopWhen: stepCountIs(3),
    experimental_telemetry: { isEnabled: true, functionId: "refund-agent" },
    tools: {
      run_python: tool({
        description: "Runs Python.",
        inputSchema: z.object({ code: z.string() }),
        execute: async () => {
          recordExecution({ logs: "4500\n" })
          return "4500\n"
        },
      }),
    },
  })
}

async function runLangChain() {
  const run = langchainTool(async () => "4500\n", {
    name: "run_python",
    description: "Runs Python.",
    schema: z.object({ code: z.string() }),
  })
  await run.invoke({ code: CODE })
}

await withCohort({ promptVersion: "v12", task: "refunds" }, async () => {
  await runAiSdk()
  await runLangChain()
})
await provider.shutdown()
