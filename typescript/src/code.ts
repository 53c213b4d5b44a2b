/** The code that a tool call ran, read from the span that an instrumentation wrote of the call. */
import type { Attributes } from "@opentelemetry/api"
import * as names from "./attributes.js"

export type Language = "python" | "javascript" | "typescript" | "bash" | "sql"

/** A tool that runs code, and where it runs it. */
export interface CodeTool {
  language: Language
  /** Argument that holds the code; by default the only one, or the first of `code`, `source`, `command`, `query`, `sql`. */
  argument?: string
  executor?: {
    /** `local`, `docker`, `e2b`, or any name of yours. */
    type?: string
    /** Interpreter and version, such as `python 3.12.4`; by default this process's Node.js for JavaScript. */
    version?: string
    image?: { name?: string; digest?: string }
  }
  /** What the executor has installed, so that a replay has it, too. */
  environment?: {
    /** Version of Python, such as `3.12.4`. */
    python?: string
    /** Distributions of Python and their versions. */
    packages?: Record<string, string>
    /** Such as `linux-x86_64`. */
    platform?: string
  }
}

const USUAL_ARGUMENTS = ["code", "source", "script", "command", "query", "sql"]

/** Return the attributes to add to a span; undefined where the span is no call of one of these tools. */
export function codeAttributes(
  attributes: Attributes,
  tools: Readonly<Record<string, CodeTool>>,
): Attributes | undefined {
  const name = firstText(attributes, names.TOOL_NAMES)
  const tool = name !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined
  const given = firstText(attributes, names.TOOL_ARGUMENTS)
  if (tool === undefined || given === undefined) return undefined
  const source = findSource(given, tool.argument)
  if (source === undefined) return undefined
  return {
    [names.CODE_SOURCE]: source,
    [names.CODE_LANGUAGE]: tool.language,
    ...executorAttributes(tool),
    ...environmentAttributes(tool),
  }
}

function findSource(given: string, argument: string | undefined): string | undefined {
  const parsed = parse(given)
  if (typeof parsed === "string") return parsed
  if (Array.isArray(parsed)) return undefined
  if (typeof parsed !== "object" || parsed === null) return given // a number or a word is code, too
  const values = parsed as Record<string, unknown>
  const keys = Object.keys(values)
  const key = argument ?? (keys.length === 1 ? keys[0] : USUAL_ARGUMENTS.find((each) => keys.includes(each)))
  const value = key === undefined ? undefined : values[key]
  return typeof value === "string" ? value : undefined
}

/** Return the JSON value of a text; a text that is no JSON is code as it is. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function executorAttributes({ executor, language }: CodeTool): Attributes {
  const isOurs = language === "javascript" || language === "typescript"
  return defined({
    [names.EXECUTOR_TYPE]: executor?.type,
    [names.EXECUTOR_VERSION]: executor?.version ?? (isOurs ? `node ${process.versions.node}` : undefined),
    [names.EXECUTOR_IMAGE_NAME]: executor?.image?.name,
    [names.EXECUTOR_IMAGE_DIGEST]: executor?.image?.digest,
  })
}

function environmentAttributes({ environment }: CodeTool): Attributes {
  if (environment === undefined) return {}
  return defined({
    [names.ENVIRONMENT_PACKAGES]: JSON.stringify(environment.packages ?? {}),
    [names.ENVIRONMENT_PYTHON]: environment.python && `cpython ${environment.python}`,
    [names.ENVIRONMENT_PLATFORM]: environment.platform,
  })
}

function firstText(attributes: Attributes, keys: readonly string[]): string | undefined {
  const key = keys.find((each) => typeof attributes[each] === "string")
  return key === undefined ? undefined : (attributes[key] as string)
}

function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
