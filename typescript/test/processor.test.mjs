import assert from "node:assert/strict"
import { test } from "node:test"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node"
import { recordExecution, SpanproofSpanProcessor, withCohort } from "../dist/index.js"

function traced(options) {
  const exporter = new InMemorySpanExporter()
  const plain = new InMemorySpanExporter()
  const provider = new NodeTracerProvider({
    spanProcessors: [
      new SpanproofSpanProcessor(new SimpleSpanProcessor(exporter), options),
      new SimpleSpanProcessor(plain),
    ],
  })
  provider.register()
  return { tracer: provider.getTracer("app"), exporter, plain }
}

function callOf(tracer, attributes) {
  tracer.startSpan("call", { attributes }).end()
}

const CODE = "print(1)"
const PYTHON = { language: "python" }

for (const [what, attributes] of Object.entries({
  "AI SDK": { "ai.toolCall.name": "run", "ai.toolCall.args": JSON.stringify({ code: CODE }) },
  OpenInference: { "tool.name": "run", "input.value": JSON.stringify({ code: CODE }) },
  "OTel GenAI": { "gen_ai.tool.name": "run", "gen_ai.tool.call.arguments": JSON.stringify({ code: CODE, n: 1 }) },
  "a text that is no JSON": { "tool.name": "run", "input.value": CODE },
})) {
  test(`the code of a tool call is added to a span of ${what}`, () => {
    const { tracer, exporter } = traced({ codeTools: { run: PYTHON } })
    callOf(tracer, attributes)
    const [span] = exporter.getFinishedSpans()
    assert.equal(span.attributes["spanproof.code.source"], CODE)
    assert.equal(span.attributes["spanproof.code.language"], "python")
    assert.equal(span.name, "call")
    assert.ok(span.duration.length === 2 && span.spanContext().spanId)
  })
}

for (const [what, attributes] of Object.entries({
  "another tool": { "tool.name": "search", "input.value": CODE },
  "a tool named like a method of every object": { "tool.name": "constructor", "input.value": CODE },
  "a call without recorded arguments": { "tool.name": "run" },
  "arguments that hold no code": { "tool.name": "run", "input.value": '{"code": 1, "n": 2}' },
  "a list": { "tool.name": "run", "input.value": "[1]" },
})) {
  test(`nothing is added to ${what}`, () => {
    const { tracer, exporter } = traced({ codeTools: { run: PYTHON } })
    callOf(tracer, attributes)
    assert.deepEqual(exporter.getFinishedSpans()[0].attributes, attributes)
  })
}

test("other processors see the span as it was", () => {
  const { tracer, plain } = traced({ codeTools: { run: PYTHON } })
  callOf(tracer, { "tool.name": "run", "input.value": CODE })
  assert.ok(!("spanproof.code.source" in plain.getFinishedSpans()[0].attributes))
})

test("executor and environment are added as declared; JavaScript runs in this Node.js unless declared", () => {
  const environment = { python: "3.12.4", packages: { pandas: "2.2.3" }, platform: "linux-x86_64" }
  const executor = { type: "docker", version: "python 3.12.4", image: { name: "agent:7", digest: "sha256:0a" } }
  const { tracer, exporter } = traced({
    codeTools: { run: { ...PYTHON, executor, environment }, js: { language: "javascript", argument: "body" } },
  })
  callOf(tracer, { "tool.name": "run", "input.value": CODE })
  callOf(tracer, { "tool.name": "js", "input.value": '{"body": "1 + 1", "code": "no"}' })
  const [python, javascript] = exporter.getFinishedSpans().map((span) => span.attributes)
  assert.equal(python["spanproof.executor.image.digest"], "sha256:0a")
  assert.equal(python["spanproof.environment.packages"], '{"pandas":"2.2.3"}')
  assert.equal(python["spanproof.environment.python"], "cpython 3.12.4")
  assert.equal(javascript["spanproof.code.source"], "1 + 1")
  assert.equal(javascript["spanproof.executor.version"], `node ${process.versions.node}`)
})

test("cohorts nest, last over awaits, and fall back to the default", async () => {
  const { tracer, exporter } = traced({ cohort: { project: "shop", release: "7" } })
  await withCohort({ promptVersion: "v12" }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    withCohort({ release: "8" }, () => callOf(tracer, {}))
  })
  callOf(tracer, {})
  const [inner, outer] = exporter.getFinishedSpans().map((span) => span.attributes)
  assert.deepEqual(inner, {
    "spanproof.cohort.project": "shop",
    "spanproof.cohort.prompt_version": "v12",
    "spanproof.cohort.release": "8",
  })
  assert.deepEqual(outer, { "spanproof.cohort.project": "shop", "spanproof.cohort.release": "7" })
})

test("an outcome is recorded on the active span; one that cannot be written breaks nothing", () => {
  const { tracer, exporter } = traced()
  const cyclic = {}
  cyclic.self = cyclic
  recordExecution({ logs: "no span is active" })
  tracer.startActiveSpan("call", (span) => {
    recordExecution({ logs: "42\n", output: { total: 42 } })
    recordExecution({ output: cyclic })
    recordExecution({ output: () => 1 })
    span.end()
  })
  assert.deepEqual(exporter.getFinishedSpans()[0].attributes, {
    "spanproof.execution.logs": "42\n",
    "spanproof.execution.output": '{"total":42}',
    "spanproof.execution.output.mime_type": "application/json",
  })
})
