"""The tape: recorded tool calls that answer a replay's tool calls.

Takes the recorded calls of a run and, one by one, the requests a snippet makes; gives the recorded result,
raises the recorded exception again, or reports a divergence. A request matches a recorded call of the same
tool with the same arguments, compared as JSON with positional arguments bound to parameter names; equal calls
are used up in the order of the record. It never guesses: a call with other arguments is never answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spanproof.evaluators.call_matching import RecordedCalls, list_parameters
from spanproof.evaluators.model import Divergence, DivergenceReason
from spanproof.evaluators.replay.record import find_raised_type
from spanproof.sandbox import JsonValue, ToolAnswer, ToolRequest
from spanproof.trace import RecordedCall, SpanError

DIVERGED = "ReplayDivergence"
"""Type of the exception raised inside where the tape has no answer for a tool it knows."""


@dataclass(slots=True)
class _Entry:
    call: RecordedCall
    owner: str | None
    used: bool = False


class Tape:
    """Recorded calls of one run, used up as a replay makes them.

    Calls recorded as made by one snippet answer that snippet alone: a step that gets further in the replay
    than it got in the record must not eat the calls of the next. Calls no snippet owns answer any.

    Attributes:
        divergences: those of the snippet at work, in order.
        gave_text: the snippet at work was given a text, which may be all that was recorded of an object.
    """

    def __init__(
        self,
        calls: Iterable[tuple[RecordedCall, str | None]],
        parameters: Mapping[str, Sequence[str]] | None = None,
        *,
        existing: Iterable[str] = (),
        as_text: bool = False,
    ) -> None:
        """Lay out the tape.

        Args:
            calls: each recorded call with the id of the snippet that made it, None where that is not known.
            parameters: parameter names by tool, in order, where declared: a call they cannot take raises
                `TypeError` inside. Else they are read off the recorded keyword arguments.
            existing: tools that are known to exist, recorded or not.
            as_text: give results whose type the producer did not declare as the text they were recorded in.
        """
        self._entries = [_Entry(call, owner) for call, owner in calls]
        self._parameters = _get_parameters(entry.call for entry in self._entries)
        self._declared = {tool: tuple(names) for tool, names in (parameters or {}).items()}
        self._parameters.update(self._declared)
        self._of: dict[str, list[_Entry]] = {}
        for entry in self._entries:
            self._of.setdefault(entry.call.tool, []).append(entry)
        self._sorted: dict[str, RecordedCalls] = {}
        self._existing = frozenset(existing) | self._declared.keys()
        self._as_text = as_text
        self._owner: str | None = None
        self._answered: list[_Entry] = []
        self.divergences: list[Divergence] = []
        self.gave_text = False

    def start_snippet(self, snippet_id: str | None) -> None:
        """Start the snippet with this id: its own calls come first, and its divergences start afresh."""
        self._owner = snippet_id
        self._answered = []
        self.divergences = []
        self.gave_text = False

    def start_over(self) -> None:
        """Take back what the snippet at hand was answered: it runs again from its start."""
        for entry in self._answered:
            entry.used = False
        self.start_snippet(self._owner)

    @property
    def tools(self) -> frozenset[str]:
        """Names of the tools that were recorded."""
        return frozenset(self._of)

    def handle_request(self, request: ToolRequest) -> ToolAnswer:
        """Answer one call off the tape; an unknown call is recorded as a divergence and raises inside."""
        same_tool = self._of.get(request.tool, [])
        matching = self._list_matching(request)
        misuse = self._find_misuse(request)
        if misuse is not None and not any(_is_verbatim(entry.call, request) for entry in same_tool):
            return ToolAnswer(error_type="TypeError", error_message=f"{request.tool}() {misuse}")
        if not same_tool:
            return self._handle_divergence(request, DivergenceReason.UNKNOWN_TOOL)
        for entry in matching:
            if not entry.used and entry.owner in (self._owner, None):
                entry.used = True
                self._answered.append(entry)
                answer = self._build_answer(entry.call)
                self.gave_text = self.gave_text or isinstance(answer.result, str)
                return answer
        used_up = DivergenceReason.EXHAUSTED if matching else DivergenceReason.UNKNOWN_ARGUMENTS
        return self._handle_divergence(request, used_up)

    def _list_matching(self, request: ToolRequest) -> list[_Entry]:
        tool, entries = request.tool, self._of.get(request.tool, [])
        if tool not in self._sorted:
            arguments = [(entry.call.args, entry.call.kwargs) for entry in entries]
            self._sorted[tool] = RecordedCalls(self._parameters.get(tool, ()), arguments)
        return [entries[at] for at in self._sorted[tool].list_matching(request.args, request.kwargs)]

    def _build_answer(self, call: RecordedCall) -> ToolAnswer:
        if call.error is not None:
            name = _get_raised_type(call.error)
            return ToolAnswer(error_type=name, error_message=_without_quotes(name, call.error.message))
        if call.result is None:
            return ToolAnswer()
        result = call.result.text if self._as_text and has_two_readings(call) else call.result.value
        return ToolAnswer(result=result)

    def _find_misuse(self, request: ToolRequest) -> str | None:
        """Return why a function with the declared parameters could not take these arguments."""
        declared = self._declared.get(request.tool)
        if declared is None:
            return None
        if len(request.args) > len(declared):
            return f"takes {len(declared)} positional arguments but {len(request.args)} were given"
        for name in request.kwargs:
            if name not in declared:
                return f"got an unexpected keyword argument {name!r}"
            if name in declared[: len(request.args)]:
                return f"got multiple values for argument {name!r}"
        return None

    def _handle_divergence(self, request: ToolRequest, reason: DivergenceReason) -> ToolAnswer:
        self.divergences.append(Divergence(request.tool, request.args, dict(request.kwargs), reason))
        if reason is DivergenceReason.UNKNOWN_TOOL and request.tool not in self._existing:
            # What a name that nothing defines raises, so that a tool the agent made up fails as it did.
            return ToolAnswer(error_type="NameError", error_message=f"name '{request.tool}' is not defined")
        return ToolAnswer(
            error_type=DIVERGED,
            error_message=f"the record has no further call {request.tool} with these arguments ({reason})",
        )


def _get_raised_type(error: SpanError) -> str:
    """Return the class of the exception that left the tool, with its module where that is on record."""
    short = find_raised_type(error) or "RuntimeError"
    names = (name for name in (error.type, *error.chain) if name and name.rpartition(".")[2] == short)
    return next(names, short)


def _is_verbatim(call: RecordedCall, request: ToolRequest) -> bool:
    """Whether the record has a call written in this very way: then the tool could take it."""
    return tuple(call.args) == request.args and dict(call.kwargs) == dict(request.kwargs)


def has_two_readings(call: RecordedCall) -> bool:
    """Whether it is undeclared if the result is a value or the text of one: `4500` or `"4500"`."""
    result = call.result
    return result is not None and not result.typed and not isinstance(result.value, str)


def _get_parameters(calls: Iterable[RecordedCall]) -> dict[str, tuple[str, ...]]:
    """Collect parameter names by tool, read off the recorded calls."""
    by_tool: dict[str, list[tuple[tuple[JsonValue, ...], Mapping[str, JsonValue]]]] = {}
    for call in calls:
        by_tool.setdefault(call.tool, []).append((call.args, call.kwargs))
    return {tool: seen for tool, recorded in by_tool.items() if (seen := list_parameters(recorded))}


def _without_quotes(error_type: str, message: str) -> str:
    """Strip the quotes of `str(KeyError("a"))`, which is `'a'`: else it would be quoted twice."""
    if error_type.rpartition(".")[2] == "KeyError" and len(message) > 1 and message[0] == message[-1] == "'":
        return message[1:-1]
    return message
