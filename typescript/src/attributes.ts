/** Attribute names: ours as `spanproof semconv` defines them, and those of the spans that are read. */
export const CODE_SOURCE = "spanproof.code.source"
export const CODE_LANGUAGE = "spanproof.code.language"
export const EXECUTOR_TYPE = "spanproof.executor.type"
export const EXECUTOR_VERSION = "spanproof.executor.version"
export const EXECUTOR_IMAGE_NAME = "spanproof.executor.image.name"
export const EXECUTOR_IMAGE_DIGEST = "spanproof.executor.image.digest"
export const EXECUTION_LOGS = "spanproof.execution.logs"
export const EXECUTION_OUTPUT = "spanproof.execution.output"
export const EXECUTION_OUTPUT_MIME_TYPE = "spanproof.execution.output.mime_type"
export const ENVIRONMENT_PACKAGES = "spanproof.environment.packages"
export const ENVIRONMENT_PYTHON = "spanproof.environment.python"
export const ENVIRONMENT_PLATFORM = "spanproof.environment.platform"
export const COHORT_PREFIX = "spanproof.cohort."
export const SESSION_ID = "session.id"
export const USER_ID = "user.id"
export const TAGS = "tag.tags"

/** Where instrumentations write the name of a tool that was called, in the order in which they are read. */
export const TOOL_NAMES = ["ai.toolCall.name", "gen_ai.tool.name", "tool.name"] as const

/** Where they write its arguments. */
export const TOOL_ARGUMENTS = [
  "ai.toolCall.args",
  "ai.toolCall.input",
  "gen_ai.tool.call.arguments",
  "input.value",
] as const
