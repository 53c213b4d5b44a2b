"""What the record says became of a snippet: its failure class, what it printed, and its value.

Takes a snippet as detected; gives the recorded side of the comparison with a replay. The class comes from the
error's type and the chain of its exceptions, and, where a framework wraps every error in one type of
its own, from the fixed form of that framework's message, or from the exit status that a tool gave back; never
from words in an output.
"""

from __future__ import annotations

import builtins
import json
import re
from dataclasses import dataclass
from functools import lru_cache

from spanproof.sandbox import Execution, FailureClass, JsonValue
from spanproof.trace import Language, Payload, Snippet, SpanError

_BY_TYPE = {
    "SyntaxError": FailureClass.SYNTAX_ERROR,
    "IndentationError": FailureClass.SYNTAX_ERROR,
    "TabError": FailureClass.SYNTAX_ERROR,
    "AssertionError": FailureClass.ASSERTION_FAILURE,
    "ModuleNotFoundError": FailureClass.MISSING_DEPENDENCY,
    "TimeoutError": FailureClass.TIMEOUT,
    "ExecutionTimeoutError": FailureClass.TIMEOUT,
    "TimeoutExpired": FailureClass.TIMEOUT,
    "MemoryError": FailureClass.OUT_OF_MEMORY,
    "PermissionError": FailureClass.PERMISSION_DENIED,
}

# How Python words that a module is there and the name is not: a made-up API, and no package missing.
_NO_NAME = "cannot import name "

# smolagents' types that stand in front of the exception the code raised.
_WRAPPERS = frozenset({"AgentExecutionError", "AgentToolExecutionError", "AgentError", "InterpreterError"})

# How smolagents' interpreter and its code parser begin the message about source that is no Python.
_PARSE_FORMS = ("Code parsing failed on line ", "Error in code parsing:")

# How smolagents' interpreter words the exception that the code raised.
_RAISED_FORM = re.compile(
    r"^Code execution failed at line '.*?' due to: (?P<type>[A-Za-z_][\w.]*): ?", re.DOTALL
)

# How smolagents words an error out of E2B: after it come the type, the value and the traceback.
_REMOTE_FORM = "Executing code yielded an error:\n"

_TRACEBACK = re.compile(
    r"^-{20,}$|\bTraceback \(most recent call last\)|^ *(?:Cell|File) .*, line \d+", re.MULTILINE
)
_LAST_LINE = re.compile(r"(?P<type>[A-Za-z_][\w.]*)(?::|$)")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")

# How smolagents' interpreter words what it refuses to do.
_REFUSED_FORMS = re.compile(
    r"^(?:Import (?:of|from) \S+ is not allowed\b"
    r"|Forbidden access to (?:module|function|dunder attribute): "
    r"|Forbidden call to dunder function: )"
)

_HANDLER = re.compile(r"^\s*except\b", re.MULTILINE)

_UNKNOWN_FUNCTION = re.compile(r"^Forbidden function evaluation: '(?P<name>\w+)' ")

# The observation of a smolagents step: what was printed, then the value of the last statement.
_OBSERVATION = re.compile(
    r"^Execution logs:\n?(?P<logs>.*?)(?:Last output from code snippet:\n(?P<output>.*))?$", re.DOTALL
)


# How tools name the exit status in what they give back.
_EXIT_STATUS = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")

# Languages whose code is a process of its own, which ends with a status.
_PROGRAMS = frozenset({Language.BASH, Language.JAVASCRIPT, Language.TYPESCRIPT})


@dataclass(frozen=True, slots=True)
class Record:
    """The recorded side of a comparison.

    Attributes:
        failure_class: None where nothing on the trace says how the code ended.
        error_type: the innermost exception's name, where known.
        stdout: what was printed, None where that is not on record.
        output: the value, None where that is not on record.
        output_text: `str` of the value, where the agent was shown it.
        shown: what the agent was shown, where it is neither of the two but a tool's own wording.
        refused_by_executor: the recorded executor refused an operation by its own rules.
        interpreter_only: the error may be one of the recorded interpreter itself, not of Python.
    """

    failure_class: FailureClass | None
    error_type: str | None = None
    stdout: str | None = None
    output: Payload | None = None
    output_text: str | None = None
    shown: str | None = None
    refused_by_executor: bool = False
    interpreter_only: bool = False

    @property
    def failed(self) -> bool:
        """Whether the record says that it failed."""
        return self.failure_class not in (None, FailureClass.OK)


def classify_recorded_error(error: SpanError | None) -> FailureClass:
    """Return the failure class of a recorded error, `ok` for none."""
    if error is None:
        return FailureClass.OK
    if _is_refused(error):
        return FailureClass.PERMISSION_DENIED
    if _is_framework_worded(error) and _get_plain_message(error).startswith(_PARSE_FORMS):
        return FailureClass.SYNTAX_ERROR
    if find_raised_type(error) == "ImportError" and _NO_NAME not in error.message:
        return FailureClass.MISSING_DEPENDENCY
    by_type = _BY_TYPE.get(find_raised_type(error) or "")
    if by_type is None:
        return FailureClass.EXCEPTION
    return by_type


def classify_execution(record: Record, execution: Execution) -> FailureClass:
    """Return the class of a replay, to be compared with the recorded one.

    A record knows an exception by its type alone: it cannot say whether a tool raised `TimeoutError` or an
    executor imposed it. The sandbox can; so where a replay raised that very type, it reads like the record.
    """
    failure_class, raised = execution.failure_class, execution.raised
    if failure_class is FailureClass.EXCEPTION and raised is not None and raised.type == record.error_type:
        return _BY_TYPE.get(raised.type, failure_class)
    return failure_class


def find_raised_type(error: SpanError) -> str | None:
    """Return the name of the exception the code itself raised, None where the producer lost it.

    Behind the framework's wrappers it is the first of the chain: what is behind that in turn are its own
    causes, which were caught.
    """
    names = [name.rpartition(".")[2] for name in (*error.chain, error.type) if name]
    own = next((name for name in names if name not in _WRAPPERS), None)
    if own is not None:
        return own
    if _is_framework_worded(error):
        worded = _find_worded_type(_get_plain_message(error))
    else:
        worded = None
    return worded or (names[-1] if names else None)


def _find_worded_type(message: str) -> str | None:
    """Return the type in a message that is the framework's, or in a traceback it handed on."""
    local = _RAISED_FORM.match(message)
    if local is not None:
        return local["type"].rsplit(".", 1)[-1]
    _, remote, remote_error = message.rpartition(_REMOTE_FORM)
    if remote:
        line = remote_error.partition("\n")[0]
    else:
        plain = _COLOUR.sub("", message)
        line = plain.rstrip().rpartition("\n")[2] if _TRACEBACK.search(plain) else ""
    found = _LAST_LINE.match(line.strip())
    return found["type"].rsplit(".", 1)[-1] if found is not None else None


def read_record(snippet: Snippet) -> Record:
    """Read the recorded outcome of an executed snippet."""
    stdout, output, output_text, shown = _read_outputs(snippet)
    nothing = snippet.error is None and stdout is None and output is None and shown is None
    if nothing:
        return Record(None)
    failure_class = classify_recorded_error(snippet.error)
    if snippet.error is None and snippet.language in _PROGRAMS:
        failure_class = _classify_exit(output.value if output is not None else _decode_document(shown))
    if failure_class is FailureClass.SYNTAX_ERROR:
        # smolagents shows the previous step's prints again when a step does not parse.
        stdout = shown = None
    if snippet.error is not None:
        error_type = find_raised_type(snippet.error)
    else:
        error_type = None
    return Record(
        failure_class=failure_class,
        error_type=error_type,
        stdout=stdout,
        output=output,
        output_text=output_text,
        shown=shown,
        refused_by_executor=snippet.error is not None and _is_refused(snippet.error),
        interpreter_only=snippet.error is not None and _is_interpreter_error(snippet.error, snippet.source),
    )


def _decode_document(shown: str | None) -> JsonValue:
    """Return what a tool gave back as JSON; None where it is none."""
    if shown is None or not shown.lstrip().startswith("{"):
        return None
    try:
        document: JsonValue = json.loads(shown)
    except (ValueError, RecursionError):
        return None
    return document


def _classify_exit(value: JsonValue) -> FailureClass:
    """Return the class of an exit status among what a tool gave back; `ok` where there is none."""
    if isinstance(value, dict):
        status = next((value[name] for name in _EXIT_STATUS if name in value), 0)
    else:
        status = 0
    if isinstance(status, bool) or not isinstance(status, int) or status == 0:
        return FailureClass.OK
    if status < 0:
        return FailureClass.KILLED
    return FailureClass.EXCEPTION


def _read_outputs(snippet: Snippet) -> tuple[str | None, Payload | None, str | None, str | None]:
    """Return what was printed, the value, its text as the agent saw it, and other wording the agent saw."""
    stdout, output = snippet.logs, snippet.output
    if snippet.observation is not None:
        form = _find_observation(snippet.observation)
    else:
        form = None
    if form is None:
        apart = stdout is not None or output is not None
        return stdout, output, None, None if apart else snippet.observation
    text = form["output"]
    if output is None and text is not None:
        output = Payload(text=text, value=text)
    return stdout if stdout is not None else form["logs"], output, text, None


# Five evaluators read the record of each snippet, and what was shown may have megabytes.
@lru_cache(maxsize=16)
def _find_observation(observation: str) -> re.Match[str] | None:
    return _OBSERVATION.match(observation)


def _get_plain_message(error: SpanError) -> str:
    return error.message.strip().removeprefix("AgentExecutionError: ").removeprefix("InterpreterError: ")


def _is_framework_worded(error: SpanError) -> bool:
    """Whether the message is the framework's own: only then its form means anything."""
    outermost = error.chain[0] if error.chain else error.type
    return error.type is None or not _WRAPPERS.isdisjoint(
        name.rpartition(".")[2] for name in (error.type, outermost) if name
    )


def _is_interpreter_error(error: SpanError, source: str) -> bool:
    """Whether the error may be smolagents' interpreter's own.

    Where Python raises a KeyError, say, it raises an error of its own, which no `except` of the code takes.
    """
    if not _is_framework_worded(error):
        return False
    if find_raised_type(error) in ("InterpreterError", "NotImplementedError"):
        return True
    worded = _RAISED_FORM.match(_get_plain_message(error))
    return worded is not None and worded["type"] == "InterpreterError" and bool(_HANDLER.search(source))


def _is_refused(error: SpanError) -> bool:
    if not _is_framework_worded(error):
        return False
    message = _get_plain_message(error)
    worded = _RAISED_FORM.match(message)
    if worded is not None:
        if worded["type"] != "InterpreterError":
            return False
        message = message[worded.end() :]
    if _REFUSED_FORMS.match(message):
        return True
    unknown = _UNKNOWN_FUNCTION.match(message)
    # The same words cover a builtin that is kept from the code and a name that is not defined.
    return unknown is not None and hasattr(builtins, unknown["name"])
