"""Whether a replay agrees with the record.

Takes the record of a snippet and what its replay came to; says True, False or None, and the first difference
in words. None means not comparable: nothing on record, the replay lacked what the run had (a file, a package,
the network, a tool call), or the recorded executor has rules of its own that the sandbox does not share. Only
a difference that is left then is held against the record.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from spanproof.evaluators.redact import with_masked_formats
from spanproof.evaluators.replay.limits import format_remedy
from spanproof.evaluators.replay.record import Record, classify_execution
from spanproof.sandbox import Execution, FailureClass, JsonValue, Raised
from spanproof.trace import Payload

_NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w)")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")
# What an object without a text of its own prints as; an interpreter of its own names it in its own way.
_OBJECT = re.compile(r"<(?:[^<>\n]|<locals>|<lambda>){0,200} at 0x[0-9a-fA-F]+>")

_NUMPY_SCALAR = re.compile(r"\bnp\.(?:float|int|uint|bool|str)_?\d*\(([^()]*)\)")
_WORD = re.compile(r"\w+")
# Marks of what is left out: smolagents' in what an agent is shown, our instrumentors' in a long value.
_CUT = re.compile(
    r"\n?(?:\.\.\._This content has been truncated to stay below \d+ characters_\.\.\."
    r"|\[… \d+ of \d+ characters left out …\])\n?"
)
# The sandbox's; sought only where it says that it left something out.
_CUT_IN_REPLAY = re.compile(r"\n\[\.\.\. \d+ (?:bytes|characters) cut \.\.\.\](?:\n|\Z)")

_Tokens = list[str | float]

# Two prints of one float may differ in their last digits between versions of numpy and Python.
_RELATIVE = 1e-9

_STOPPED = frozenset(
    {FailureClass.TIMEOUT, FailureClass.OUT_OF_MEMORY, FailureClass.OUTPUT_LIMIT, FailureClass.KILLED}
)
_WITHHELD = frozenset({FailureClass.PERMISSION_DENIED, FailureClass.UNSAFE_OPERATION})
_MAX_QUOTED = 80


@dataclass(frozen=True, slots=True)
class Agreement:
    """`agrees` None: not comparable, and `difference` says why; see the module."""

    agrees: bool | None
    difference: str | None = None


def compare_execution(
    record: Record,
    execution: Execution,
    output: Replayed,
    *,
    excuse: str | None,
    sets: bool = False,
    separators: bool = False,
) -> Agreement:
    """Compare the class, then what was printed, then the value.

    Args:
        record: the recorded side.
        execution: the replayed side.
        output: the replayed value.
        excuse: why a difference would prove nothing: what the replay lacked, or what cannot repeat.
        sets: the code makes sets, whose order differs from process to process.
        separators: the code prints with separators or ends of its own, which smolagents' interpreter drops.
    """
    if record.failure_class is None:
        return Agreement(None)
    if record.failure_class is not classify_execution(record, execution):
        return _evaluate_class_difference(record, execution, excuse)
    difference = _find_output_difference(record, execution, output)
    if difference is None:
        return Agreement(_evaluate_comparability(record, execution, output))
    recorded, replayed = _split_recorded_words(record), _split_replayed_words(execution, output)
    if excuse is None and sets and sorted(recorded) == sorted(replayed):
        excuse = "the order of a set"
    if excuse is None and separators and "".join(recorded) == "".join(replayed):
        excuse = "the recorded interpreter may drop what print puts between and after values"
    if excuse is not None:
        return Agreement(None, f"{difference}: {excuse}")
    return Agreement(agrees=False, difference=difference)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The replayed value: of `final_answer` where it was called, else of the last expression.

    `has_value` is False where the code ends in a statement that has no value in Python: some recorded
    interpreters give such a statement a value all the same. `cut`: the text is not all of it.
    """

    value: JsonValue = None
    text: str | None = None
    has_value: bool = True
    cut: bool = False


def ends_in_expression(source: str) -> bool:
    """Whether the last statement is an expression, so that its value is that of the snippet."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(body) and isinstance(body[-1], ast.Expr)


def ends_in_call_of(source: str, name: str) -> bool:
    """Whether the last statement is a bare call of this name."""
    if not ends_in_expression(source):
        return False
    last = ast.parse(source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name


# A surrogate as a session prints it, and what others write for it: the sign of what cannot be decoded, once
# for the character or for each of its bytes, the one of what cannot be encoded, and nothing.
_LONE_SURROGATE = re.compile(r"\\ud[89a-f][0-9a-f]{2}")
_SURROGATE_FORMS = ("\ufffd", "\ufffd\ufffd\ufffd", "?", "")


def is_same_text(recorded: str, replayed: str, *, replay_cut: bool = False) -> bool:
    """Whether texts are equal but for white space, object addresses, number spelling and what is cut.

    Half of a character outside the basic plane has no form in UTF-8: each executor writes another.
    """
    if _LONE_SURROGATE.search(replayed) and not _LONE_SURROGATE.search(recorded):
        written = (_LONE_SURROGATE.sub(form, replayed) for form in _SURROGATE_FORMS)
        return any(is_same_text(recorded, text, replay_cut=replay_cut) for text in written)
    if replay_cut:
        pieces = _CUT_IN_REPLAY.split(replayed)
    else:
        pieces = [replayed]
    one, other = _build_ends(_CUT.split(recorded)), _build_ends(pieces)
    longest = max(one.size, other.size)
    if not (one.cut or other.cut):
        return _are_same_tokens(one.head, other.head)
    if any(not ends.cut and ends.size < longest for ends in (one, other)):
        return False  # a whole text is no shorter than what is left of a cut one
    begin, end = min(len(one.head), len(other.head)), min(len(one.tail), len(other.tail))
    return _are_same_tokens(one.head[:begin], other.head[:begin]) and _are_same_tokens(
        one.tail[len(one.tail) - end :], other.tail[len(other.tail) - end :]
    )


class _Ends(NamedTuple):
    """The tokens of a text before and after its cut; of a whole text, all of them in both."""

    head: _Tokens
    tail: _Tokens
    cut: bool

    @property
    def size(self) -> int:
        """How many tokens there are at least."""
        if self.cut:
            return len(self.head) + len(self.tail)
        return len(self.head)


def _build_ends(pieces: list[str]) -> _Ends:
    first = _parse_tokens(pieces[0])
    if len(pieces) == 1:
        return _Ends(first, first, cut=False)
    # The words at the cut may be parts of words.
    return _Ends(first[:-1], _parse_tokens(pieces[-1])[1:], cut=True)


def describe_difference(
    what: str, left: str, right: str, *, sides: tuple[str, str] = ("recorded", "replayed")
) -> str:
    """Describe the first line in which two texts differ."""
    left_lines, right_lines = left.strip().splitlines(), right.strip().splitlines()
    for number, (one, other) in enumerate(zip_longest(left_lines, right_lines, fillvalue=""), 1):
        if not is_same_text(one, other):
            line = f" line {number}" if max(len(left_lines), len(right_lines)) > 1 else ""
            return f"{what}{line} {sides[0]} {_format_quote(one)!r}, {sides[1]} {_format_quote(other)!r}"
    return f"{what} {sides[0]} {_format_quote(left)!r}, {sides[1]} {_format_quote(right)!r}"


def is_same_value(recorded: JsonValue, replayed: JsonValue) -> bool:
    """Whether values are equal as JSON, floats within the last digits."""
    if isinstance(recorded, bool) or isinstance(replayed, bool):
        return recorded is replayed
    if isinstance(recorded, int | float) and isinstance(replayed, int | float):
        return _is_same_number(recorded, replayed)
    if isinstance(recorded, list) and isinstance(replayed, list):
        return len(recorded) == len(replayed) and all(map(is_same_value, recorded, replayed))
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        return recorded.keys() == replayed.keys() and all(
            is_same_value(value, replayed[key]) for key, value in recorded.items()
        )
    if isinstance(recorded, str) and isinstance(replayed, str) and _CUT.search(recorded):
        return is_same_text(recorded, replayed)
    return recorded == replayed


def _evaluate_class_difference(record: Record, execution: Execution, excuse: str | None) -> Agreement:
    difference = f"recorded {record.failure_class}, replayed {execution.failure_class}"
    if record.refused_by_executor:
        return Agreement(
            None, f"{difference}: the recorded executor refused by its own list of imports and names"
        )
    if record.interpreter_only and execution.failure_class is FailureClass.OK:
        return Agreement(None, f"{difference}: the recorded interpreter knows less than Python")
    if execution.failure_class is FailureClass.SYNTAX_ERROR and not record.failed:
        return Agreement(
            None, f"{difference}: the recorded executor ran what the sandbox's interpreter cannot parse"
        )
    if execution.failure_class in _STOPPED:
        return Agreement(
            None, f"{difference}: the replay was stopped by its own limits{format_remedy(execution)}"
        )
    if execution.failure_class in _WITHHELD:
        return Agreement(None, f"{difference}: the sandbox withheld what the run had")
    if excuse is not None:
        return Agreement(None, f"{difference}: {excuse}")
    return Agreement(agrees=False, difference=f"{difference}{_format_raised(execution)}")


def _format_raised(execution: Execution) -> str:
    if execution.raised is None:
        return ""
    return f" ({execution.raised.type}: {_format_quote(execution.raised.message)})"


def _evaluate_comparability(record: Record, execution: Execution, output: Replayed) -> bool | None:
    """Whether any output was compared: a tool's wording of code that gave nothing, `done` say, is none."""
    failed = record.failure_class is not FailureClass.OK
    printed = record.stdout is not None or record.output is not None
    worded = record.shown is not None and (
        not record.shown.strip() or bool(_list_output_texts(execution, output))
    )
    return True if failed or printed or worded else None


def _find_output_difference(record: Record, execution: Execution, output: Replayed) -> str | None:
    if record.failed and not (
        record.interpreter_only or _is_same_exception(record.error_type, execution.raised)
    ):
        return describe_difference(
            "raised", record.error_type or "", execution.raised.type if execution.raised else ""
        )
    printed, cut = record.stdout, execution.stdout_cut
    if printed is not None and not is_same_text(printed, execution.stdout, replay_cut=cut):
        return describe_difference("printed", printed, execution.stdout)
    if record.failure_class is not FailureClass.OK:
        return None
    if record.output is not None and output.has_value and not _is_same_output(record, record.output, output):
        return describe_difference("the value was", record.output.text, output.text or "")
    if record.shown is not None:
        return _find_shown_difference(record.shown, execution, output)
    return None


def _is_same_exception(recorded: str | None, raised: Raised | None) -> bool:
    """Whether the exceptions are one; only Python's own are compared, as frameworks put theirs in front."""
    if recorded is None or raised is None or raised.type == recorded:
        return True
    return not (hasattr(builtins, recorded) and hasattr(builtins, raised.type))


def _split_recorded_words(record: Record) -> list[str]:
    output = record.output.text if record.output is not None else ""
    return _WORD.findall(f"{record.stdout or ''} {output} {record.shown or ''}")


def _split_replayed_words(execution: Execution, output: Replayed) -> list[str]:
    return _WORD.findall(f"{execution.stdout} {output.text or ''}")


def _is_same_output(record: Record, recorded: Payload, replayed: Replayed) -> bool:
    texts = [text for text in (recorded.text, record.output_text) if text is not None]
    if replayed.text is not None and any(
        is_same_text(text, replayed.text, replay_cut=replayed.cut) for text in texts
    ):
        return True
    odd = replayed.value is None and replayed.text not in (None, "None") and not replayed.cut
    if odd and record.output_text is None:
        # It has no JSON form: one side holds its `repr`, the other its `str`, and they need not be alike.
        return True
    return is_same_value(recorded.value, replayed.value)


def _find_shown_difference(shown: str, execution: Execution, output: Replayed) -> str | None:
    """Describe how what was shown differs; only text of the same shape counts, as a tool may reword it."""
    texts = _list_output_texts(execution, output)
    if not texts or any(is_same_text(shown, text) or _is_within(text, shown) for text in texts):
        return None
    if len(shown.strip().splitlines()) != len(texts[0].splitlines()):
        return None
    return describe_difference("the tool gave", shown, texts[0])


def _list_output_texts(execution: Execution, output: Replayed) -> list[str]:
    """Return what a replay gave, in the ways a tool may put it together."""
    texts = [execution.stdout.strip()]
    if output.text is not None:
        texts += [output.text, f"{execution.stdout}\n{output.text}"]
    return [text for text in texts if text.strip()]


def _is_within(part: str, whole: str) -> bool:
    return " ".join(part.split()) in " ".join(whole.split())


def _format_quote(text: str) -> str:
    text = with_masked_formats(" ".join(text.split()))
    if len(text) <= _MAX_QUOTED:
        return text
    return f"{text[: _MAX_QUOTED - 1]}…"


def _parse_tokens(text: str) -> _Tokens:
    plain = _NUMPY_SCALAR.sub(r"\1", _ADDRESS.sub("0x", _OBJECT.sub("<object>", text)))
    tokens: _Tokens = []
    at = 0
    for number in _NUMBER.finditer(plain):
        tokens.extend(plain[at : number.start()].split())
        tokens.append(float(number[0]))
        at = number.end()
    tokens.extend(plain[at:].split())
    return tokens


def _are_same_tokens(left: _Tokens, right: _Tokens) -> bool:
    return len(left) == len(right) and all(map(_is_same_token, left, right))


def _is_same_token(left: str | float, right: str | float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return _is_same_number(left, right)
    return left == right


def _is_same_number(left: float, right: float) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    try:
        return left == right or math.isclose(left, right, rel_tol=_RELATIVE)
    except OverflowError:  # an integer beyond the largest float next to a float
        return False
