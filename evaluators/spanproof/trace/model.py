"""The trace as every stage after `normalise` sees it.

What comes in is any dialect; what goes out is one vocabulary: a `Span` with its content decoded, a `Trace`
that is a tree of spans with its defects named, and, once code has been detected, a `Run` (one agent at work)
made of `Step`s that carry `Snippet`s. All values are frozen. Nothing here reads an attribute name: that is
what the dialects are for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What a JSON document decodes to."""

AttributeValue: TypeAlias = (
    "bool | int | float | str | bytes | list[AttributeValue] | dict[str, AttributeValue] | None"
)
"""What an OTLP `AnyValue` decodes to."""


class SpanKind(StrEnum):
    """The kind of a span; the names are those of OpenInference if it has one."""

    AGENT = "AGENT"
    CHAIN = "CHAIN"
    LLM = "LLM"
    TOOL = "TOOL"
    RETRIEVER = "RETRIEVER"
    GUARDRAIL = "GUARDRAIL"
    EVALUATOR = "EVALUATOR"
    OTHER = "OTHER"


class Language(StrEnum):
    """The languages of snippets; `OTHER` is code in none of them.

    Only the first five are scanned and run. Code in a language after HTML is named and reported.
    """

    PYTHON = "python"
    BASH = "bash"
    SQL = "sql"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    JSON = "json"
    YAML = "yaml"
    HTML = "html"
    C = "c"
    CPP = "c++"
    CSHARP = "c#"
    GO = "go"
    JAVA = "java"
    JULIA = "julia"
    KOTLIN = "kotlin"
    LUA = "lua"
    PERL = "perl"
    PHP = "php"
    POWERSHELL = "powershell"
    R = "r"
    RUBY = "ruby"
    RUST = "rust"
    SCALA = "scala"
    SWIFT = "swift"
    OTHER = "other"

    @property
    def suffix(self) -> str:
        """The suffix of a file in this language, without the dot."""
        return _SUFFIXES.get(self, "txt")


_SUFFIXES: Final[Mapping[Language, str]] = {
    Language.PYTHON: "py",
    Language.BASH: "sh",
    Language.SQL: "sql",
    Language.JAVASCRIPT: "js",
    Language.TYPESCRIPT: "ts",
    Language.JSON: "json",
    Language.YAML: "yaml",
    Language.HTML: "html",
    Language.C: "c",
    Language.CPP: "cpp",
    Language.CSHARP: "cs",
    Language.GO: "go",
    Language.JAVA: "java",
    Language.JULIA: "jl",
    Language.KOTLIN: "kt",
    Language.LUA: "lua",
    Language.PERL: "pl",
    Language.PHP: "php",
    Language.POWERSHELL: "ps1",
    Language.R: "r",
    Language.RUBY: "rb",
    Language.RUST: "rs",
    Language.SCALA: "scala",
    Language.SWIFT: "swift",
}


@dataclass(frozen=True, slots=True)
class Payload:
    """A span's input or output, or a tool's result.

    Attributes:
        text: the content as it was written, for people and for searching.
        value: the decoded document where the producer declared or plainly wrote JSON, else the text.
        typed: whether the producer declared the type, so that `value` `4500` is the integer and not a
            string of digits.
    """

    text: str
    value: JsonValue
    typed: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call a model requested, or that a TOOL span records; `arguments` is decoded where it was JSON."""

    name: str
    arguments: JsonValue
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message to or from a model.

    Attributes:
        role: `system`, `user`, `assistant`, `tool`, or what the producer wrote.
        text: the textual parts, joined by newlines.
        tool_calls: what the model requested in this message.
        tool_call_id: for a `tool` message, the call it answers.
    """

    role: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call; cached and reasoning tokens are included in the totals."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True, slots=True)
class SpanError:
    """Why a span failed. `type` is the exception's name, None where the producer lost it."""

    type: str | None
    message: str
    chain: tuple[str, ...] = ()
    """Names of the exceptions behind it, the outermost first, where the producer recorded them."""


@dataclass(frozen=True, slots=True)
class Executor:
    """What ran the agent's code."""

    type: str | None = None
    version: str | None = None
    image_name: str | None = None
    image_digest: str | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of the agent's process, as its instrumentor recorded it.

    Attributes:
        packages: distributions that it had imported, by name, with their versions.
        python: the interpreter's implementation and version: `cpython 3.11.7`.
        platform: as `sysconfig.get_platform()` names it: `linux-x86_64`.
        image_name, image_digest: of the image that the process ran in.
    """

    packages: Mapping[str, str]
    python: str | None = None
    platform: str | None = None
    image_name: str | None = None
    image_digest: str | None = None


@dataclass(frozen=True, slots=True)
class ExecutedCode:
    """What an instrumentor recorded about code that ran within a span.

    Attributes:
        source: the code as it ran.
        path: the attribute it was found in.
        language: as the producer named it, None where it did not.
        logs: what the code printed, None where that was not recorded apart from the observation.
        output: the value of the code's last expression, or the argument of `final_answer`.
        is_final: whether this code ended the run.
    """

    source: str
    path: str
    language: str | None = None
    logs: str | None = None
    output: Payload | None = None
    is_final: bool = False
    executor: Executor = Executor()


@dataclass(frozen=True, slots=True)
class StepInfo:
    """An agent's own numbering of its steps; `kind` is `action`, `planning` or `final_answer`."""

    number: int | None
    kind: str = "action"


@dataclass(frozen=True, slots=True)
class Event:
    """A span event."""

    name: str
    time_ns: int
    attributes: Mapping[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class Cohort:
    """The dimensions by which scores are grouped; empty where the trace does not say."""

    project: str = "default"
    service: str = ""
    agent: str = ""
    model: str = ""
    prompt_version: str = ""
    task: str = ""
    language: str = ""
    fixture_set: str = ""
    executor: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """One operation, in our vocabulary.

    Attributes:
        trace_id, span_id, parent_id: lower-case hex; `parent_id` as received, None on a root. The trace may
            not have that span: `Trace.parents` has the parents that count.
        start_ns, end_ns: Unix time in nanoseconds.
        dialect: the name of the dialect that read it.
        scope, scope_version: the instrumentation scope, which names its producer.
        input, output: what went in and came out.
        input_messages, output_messages: for LLM spans, the conversation.
        tool: for TOOL spans, the call with its arguments; its result is `output`.
        code: code recorded as executed within this span.
        observation: what the agent was shown after a step, where that is recorded apart from `output`.
        usage: tokens of this very call; always None on spans that repeat the sum of their children.
        truncated: some of the content is known to be cut.
        hidden: the producer kept the content back.
        dropped_attributes: how many attributes the producer's limits removed.
        environment: of the agent's process, where this span names it.
        failed, status_message: the status is ERROR; its description, None of spans stored without it.
        attributes, resource: as received.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: SpanKind
    start_ns: int
    end_ns: int
    dialect: str = "unknown"
    scope: str = ""
    scope_version: str = ""
    input: Payload | None = None
    output: Payload | None = None
    input_messages: tuple[Message, ...] = ()
    output_messages: tuple[Message, ...] = ()
    tool: ToolCall | None = None
    code: ExecutedCode | None = None
    observation: str | None = None
    step: StepInfo | None = None
    usage: Usage | None = None
    model: str | None = None
    agent: str | None = None
    error: SpanError | None = None
    truncated: bool = False
    hidden: bool = False
    dropped_attributes: int = 0
    environment: Environment | None = None
    failed: bool = False
    status_message: str | None = None
    events: tuple[Event, ...] = ()
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    resource: Mapping[str, AttributeValue] = field(default_factory=dict)


class Defect(StrEnum):
    """A defect in the structure of a trace, which is still evaluated as far as possible."""

    MISSING_PARENT = "missing_parent"
    PARENT_CYCLE = "parent_cycle"
    SEVERAL_ROOTS = "several_roots"
    NO_ROOT = "no_root"
    DUPLICATE_SPAN_IDS = "duplicate_span_ids"
    DROPPED_ATTRIBUTES = "dropped_attributes"


DEFECT_WORDS: Final[Mapping[Defect, str]] = MappingProxyType(
    {
        Defect.MISSING_PARENT: "the parent of a span has not come",
        Defect.PARENT_CYCLE: "spans are their own ancestors",
        Defect.SEVERAL_ROOTS: "it has several roots",
        Defect.NO_ROOT: "its root has not come",
        Defect.DUPLICATE_SPAN_IDS: "a span id was sent twice with different content",
        Defect.DROPPED_ATTRIBUTES: "its producer's limits removed attributes",
    }
)
"""Each defect as words about a trace."""


class Refuser(StrEnum):
    """What refused an agent's step."""

    GUARD = "guard"
    BUDGET = "budget"
    GUARDRAIL = "guardrail"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a step, a tool call or a snippet was refused.

    Attributes:
        by: the guard, a budget, or the guardrail of a framework.
        rule: the id of the guard's or the budget's rule, or the name of the guardrail.
        limit: of the budget that is used up, in the unit of its kind; None where there is none, or none on
            the trace.
    """

    by: Refuser
    rule: str
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call as it happened: what the tape of a replay is made of.

    Attributes:
        tool: the tool's name.
        args, kwargs: positional and keyword arguments.
        result: what it returned; None with `error` set when it raised.
        replayable: False, with `reason`, where arguments or result are hidden or cut.
        refusal: why it was refused, None where it was not.
    """

    tool: str
    args: tuple[JsonValue, ...] = ()
    kwargs: Mapping[str, JsonValue] = field(default_factory=dict)
    result: Payload | None = None
    error: SpanError | None = None
    span_id: str | None = None
    replayable: bool = True
    reason: str | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of code an agent wrote.

    Attributes:
        id: stable over runs of the evaluator: see `spanproof.trace.ids`.
        path: the place inside the span: an attribute name, with `[n]` for the n-th block of a text.
        executed: whether it ran; else it was only proposed, or refused.
        observation: what the agent was shown after it ran, None where it is not on the trace.
        logs: what it printed, where recorded apart.
        output: the value it ended with, where recorded apart.
        error: why it failed, as recorded.
        tape: the tool calls it made, in order.
        is_final: it ended the run.
        truncated: the source is known to be cut: it can be scanned in part, never replayed.
        refusal: why it was refused; of code that ran, the refusal of a call that ended it.
    """

    id: str
    trace_id: str
    span_id: str
    path: str
    language: Language
    source: str
    executed: bool
    observation: str | None = None
    logs: str | None = None
    output: Payload | None = None
    error: SpanError | None = None
    tape: tuple[RecordedCall, ...] = ()
    is_final: bool = False
    truncated: bool = False
    executor: Executor = Executor()
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of an agent: the model's message, the actions, their results.

    Attributes:
        number: from 1.
        span_id: the span that represents the step: a CHAIN span where there is one, else the LLM span.
        kind: `action`, `planning` or `final_answer`.
        text: the model's own words.
        requested: tool calls the model requested, whether or not they ran.
        snippets: code of this step, executed before proposed.
        calls: tool calls that happened, those made by snippets included.
        observation: what the agent was shown.
        refusal: why all that it was to do was refused, None where something ran.
    """

    number: int
    span_id: str
    kind: str = "action"
    text: str = ""
    requested: tuple[ToolCall, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    calls: tuple[RecordedCall, ...] = ()
    observation: str | None = None
    error: SpanError | None = None
    is_final: bool = False
    start_ns: int = 0
    end_ns: int = 0
    usage: Usage = Usage()
    refusal: Refusal | None = None


class Ending(StrEnum):
    """How a run ended."""

    ANSWERED = "answered"
    MAX_STEPS = "max_steps"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Run:
    """One agent at work: an AGENT span and what is under it (a trace without AGENT spans is one run).

    Attributes:
        span_id, name: of the AGENT span, or of the root where there is none.
        task: what the agent was to do.
        answer: what it answered, None where it did not or where that is hidden.
        steps: in order of time.
        hidden: content the evaluators would need was kept back.
        parent_span_id: the run that called this one, for managed agents and handoffs.
        refusal: why the run as a whole was stopped: a guardrail of what goes in or out of it.
    """

    trace_id: str
    span_id: str
    name: str
    task: str | None
    answer: Payload | None
    steps: tuple[Step, ...]
    ending: Ending = Ending.UNKNOWN
    error: SpanError | None = None
    cohort: Cohort = Cohort()
    usage: Usage = Usage()
    start_ns: int = 0
    end_ns: int = 0
    hidden: bool = False
    truncated: bool = False
    parent_span_id: str | None = None
    refusal: Refusal | None = None

    @property
    def snippets(self) -> tuple[Snippet, ...]:
        """Every snippet of the run, in order of its steps."""
        return tuple(snippet for step in self.steps for snippet in step.snippets)
