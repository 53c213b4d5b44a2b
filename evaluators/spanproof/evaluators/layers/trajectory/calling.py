"""The tool-calling four: the right tool, arguments it took, its result used, its failures mended.

In: the actions of a run and its answer. Out: four outcomes and their mean. Calls within code, and calls of
tools that run code, do not count: they belong to the action of the code, as does their failure. All are
advisory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from spanproof.evaluators.actions import CODE, REPLY, Action
from spanproof.evaluators.layers.trajectory.weights import TOOL_CALLING
from spanproof.evaluators.outcomes.recovery import Recovery, RecoveryStatus, compute_recovered_share
from spanproof.trace import Cause, Evidence, Outcome, Scored, Skipped

_NO_SUCH_TOOL = re.compile(
    r"\b(?:unknown|no such|non-?existent|unregistered|invalid) (?:tool|function)\b"
    r"|\b(?:tool|function)\b.{0,80}?\b(?:not found|does not exist"
    r"|is not defined|unknown|is not (?:a valid|available))"
    r"|UnknownTool|ToolNotFound",
    re.IGNORECASE | re.DOTALL,
)
_WRONG_ARGUMENTS = re.compile(
    r"\bTypeError\b|\bValidationError\b|\bJSONDecodeError\b|\bUnexpectedArgument"
    r"|\b(?:missing|unexpected|invalid|required|wrong|bad|unknown)\b.{0,40}?"
    r"\b(?:argument|parameter|field|keyword|input)s?\b"
    r"|\b(?:argument|parameter|field|input)s?\b.{0,60}?"
    r"\b(?:missing|required|invalid|must be|not valid|unexpected|unknown)\b",
    re.IGNORECASE | re.DOTALL,
)
_VALUE = re.compile(r"[^\W_][\w.\-]{2,}")
_NO_CALLS = "the run called no tool but those that run code"
_MAX_VALUES = 5_000


def evaluate_tool_calling(
    actions: Sequence[Action], answer: str, found: Sequence[Recovery]
) -> dict[str, Outcome]:
    """Return the four by name, and their weighted mean as `evaluate_tool_calling`."""
    calls = [action for action in actions if action.name not in {CODE, REPLY} and not action.answers]
    if not calls:
        return {
            name: Skipped(_NO_CALLS, Cause.NOTHING_OF_THE_KIND) for name in ("tool_calling", *TOOL_CALLING)
        }
    four: dict[str, Outcome] = {
        "tool_selection": _evaluate_selection(calls),
        "tool_arguments": _evaluate_arguments(calls),
        "tool_result_use": _evaluate_result_use(calls, actions, answer),
        "tool_recovery": _evaluate_recovery(calls, found),
    }
    return {"tool_calling": _compute_tool_calling(four), **four}


def _evaluate_selection(calls: Sequence[Action]) -> Outcome:
    """Score the share of calls to a tool that exists that repeat no earlier call with its outcome."""
    seen: set[tuple[str, str | None]] = set()
    wrong: list[tuple[Action, str]] = []
    for call in calls:
        key = (call.exact, call.outcome)
        if _NO_SUCH_TOOL.search(call.error_text):
            wrong.append((call, f"there is no tool {call.name}"))
        elif call.error is None and key in seen:
            wrong.append((call, f"{call.name} again with the same outcome"))
        seen.add(key)
    return _evaluate_share(len(calls), wrong, "calls chose a tool that could help")


def _evaluate_arguments(calls: Sequence[Action]) -> Outcome:
    """Score the share of calls whose arguments the tool took."""
    to_tools = [call for call in calls if not _NO_SUCH_TOOL.search(call.error_text)]
    if not to_tools:
        return Skipped("no call reached a tool", Cause.NOTHING_OF_THE_KIND)
    wrong = [
        (call, f"{call.name} did not take its arguments")
        for call in to_tools
        if call.error is not None and _WRONG_ARGUMENTS.search(call.error_text)
    ]
    return _evaluate_share(len(to_tools), wrong, "calls gave arguments that the tool took")


def _evaluate_result_use(calls: Sequence[Action], actions: Sequence[Action], answer: str) -> Outcome:
    """Score the share of results of which a value is in what the agent did, thought or answered after."""
    after = _list_values(answer)
    later: dict[int, frozenset[str]] = {}
    for action in reversed(actions):
        later[id(action)] = after
        after = after | _list_values(f"{action.text} {action.thought or ''}")
    judged: list[Action] = []
    unused: list[tuple[Action, str]] = []
    for call in calls:
        new, after = _list_values(call.result) - _list_values(call.text), later[id(call)]
        # Where nothing after the call is on the trace, nothing says that its result was not used.
        if call.error is not None or not new or not after:
            continue
        judged.append(call)
        if new.isdisjoint(after):
            unused.append((call, f"nothing of what {call.name} returned was used"))
    if not judged:
        return Skipped(
            "no tool call returned anything of which the trace shows the use", Cause.NOTHING_OF_THE_KIND
        )
    return _evaluate_share(len(judged), unused, "results were used")


def _evaluate_recovery(calls: Sequence[Action], recoveries: Sequence[Recovery]) -> Outcome:
    """Score the share of failed calls after which what they were after was got; open ones count half."""
    failed = {id(call) for call in calls if call.error is not None}
    found = [recovery for recovery in recoveries if id(recovery.failure) in failed]
    if not found:
        return Skipped("no tool call failed", Cause.NOTHING_OF_THE_KIND)
    mended = sum(recovery.status is RecoveryStatus.RECOVERED for recovery in found)
    return Scored(
        compute_recovered_share(found), None, f"{mended} of {len(found)} failed tool calls were mended"
    )


def _compute_tool_calling(four: Mapping[str, Outcome]) -> Outcome:
    measured = {name: outcome.value for name, outcome in four.items() if isinstance(outcome, Scored)}
    weight = sum(TOOL_CALLING[name] for name in measured)
    value = sum(TOOL_CALLING[name] * value for name, value in measured.items()) / weight
    sentence = ", ".join(f"{name.removeprefix('tool_')} {value:.2f}" for name, value in measured.items())
    return Scored(value, None, sentence)


def _evaluate_share(total: int, wrong: Sequence[tuple[Action, str]], sentence: str) -> Scored:
    evidence = tuple(Evidence(f"step {call.step}: {why}", call.span_id) for call, why in wrong[:10])
    return Scored(1 - len(wrong) / total, None, f"{total - len(wrong)} of {total} {sentence}", evidence)


def _list_values(text: str) -> frozenset[str]:
    """Return the values and words of a text, lower case."""
    found: set[str] = set()
    for match in _VALUE.finditer(text):
        found.add(match.group().rstrip(".-").lower())
        if len(found) >= _MAX_VALUES:
            break
    return frozenset(found)
