"""Whether a difference between a step's replay and its record counts.

Takes a snippet, its execution and what the replay of the run knows so far; gives an `Agreement`. A replay
that lacked what the run had, or code that no run repeats, proves nothing: then the difference is given with
its excuse and counts against nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spanproof.evaluators.model import Divergence
from spanproof.evaluators.replay.chance import Chance
from spanproof.evaluators.replay.compare import Agreement, Replayed, compare_execution
from spanproof.evaluators.replay.names import Names
from spanproof.evaluators.replay.record import Record, read_record
from spanproof.evaluators.replay.rows import compare_rows
from spanproof.evaluators.replay.state import State
from spanproof.evaluators.replay.tape import Tape
from spanproof.evaluators.replay.uses import read_uses
from spanproof.sandbox import Execution, FailureClass
from spanproof.trace import Language, Snippet

# What code raises that is given a text in place of the object it was written for.
_WRONG_TYPE = frozenset({"AttributeError", "TypeError", "KeyError", "IndexError", "ValueError"})

# How Python words that a module has no such name.
_NO_NAME = re.compile(r"(?:module '|cannot import name '\w+' from ')(?P<module>[\w.]+)'")

# How the sandbox words that the arguments of a tool call are too large to be sent.
_UNSENT = " KiB as JSON"

_NOT_PYTHON = "what the program found around it is not on the trace"


@dataclass(slots=True)
class Weighing:
    """Weighs the steps of one replay, in order; `pinned`: the packages have the run's versions."""

    state: State
    pinned: bool = False
    _chance: Chance = field(init=False)
    _aliases: dict[str, str] = field(default_factory=dict)
    _textual: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Set up what is known of chance; nothing was replayed yet."""
        self._chance = Chance(self.pinned)

    def evaluate_step(
        self,
        snippet: Snippet,
        names: Names | None,
        execution: Execution,
        output: Replayed,
        tape: Tape,
    ) -> Agreement:
        """Compare one step with its record.

        Args:
            snippet: the next one of the run.
            names: its names, None where it is not Python.
            execution: its replay.
            output: the value of the replay.
            tape: as this step left it.
        """
        record = read_record(snippet)
        if snippet.language is Language.SQL:
            return compare_rows(record, execution, snippet.source)
        if names is None:
            return compare_execution(record, execution, output, excuse=_NOT_PYTHON)
        depends = self._find_dependence(snippet, names)
        textual = self._is_textual(names, tape)
        found = compare_execution(
            without_silent_stdout(record, names),
            execution,
            output,
            excuse=_find_divergence(tape.divergences)
            or self._find_gap(names, record, execution, textual)
            or depends,
            sets=self._chance.makes_sets,
            separators=names.print_options,
        )
        if record.failed and execution.failure_class is FailureClass.OK:
            # The record stopped where the replay went on: what was bound from there on is not the run's.
            self._chance.record_tainted(names.bound, "a step that failed on record and not in the replay")
        return found

    def _find_dependence(self, snippet: Snippet, names: Names) -> str | None:
        uses, self._aliases = read_uses(snippet.source, self._aliases)
        return self._chance.handle_snippet(snippet.source, names, uses)

    def _is_textual(self, names: Names, tape: Tape) -> bool:
        """Whether the step works on a tool's result that may be the text of an object: a table, an image."""
        textual = tape.gave_text or bool(names.used & self._textual)
        if textual:
            self._textual |= names.assigned
        else:
            self._textual -= names.assigned
        return textual

    def _find_gap(self, names: Names, record: Record, execution: Execution, textual: bool) -> str | None:
        """Return what the replay lacks that the run had, or the other way round, as the errors show."""
        if record.error_type == "NameError" and names.free & self.state.bound:
            return "the run's interpreter kept no names between snippets"
        if execution.failure_class is FailureClass.MISSING_DEPENDENCY:
            return "the sandbox does not have the package"
        raised = execution.raised
        if raised is None:
            return None
        if raised.type == "ValueError" and raised.message.endswith(_UNSENT):
            return "the argument of a tool call cannot leave the sandbox"
        if "FileNotFoundError" in (raised.type, *raised.chain):
            return "the file is not on the trace"
        if not record.failed:
            if _names_standard_module(raised.message):
                return "the sandbox's version of Python may not be the run's, and lacks the name"
            if textual and raised.type in _WRONG_TYPE:
                return "a tool's result is on record as text, which may be all that is left of an object"
        if raised.type == "NameError":
            unknown = self.state.list_unknown(names)
        else:
            unknown = frozenset()
        if any(f"'{name}'" in raised.message for name in unknown):
            return "the name came from outside the run's code"
        return None


def _names_standard_module(message: str) -> bool:
    """Whether an error says that a module of the standard library lacks a name."""
    found = _NO_NAME.match(message)
    return found is not None and found["module"].partition(".")[0] in sys.stdlib_module_names


def _find_divergence(divergences: Sequence[Divergence]) -> str | None:
    if not divergences:
        return None
    return f"its call of the tool {divergences[0].tool} is not on the tape ({divergences[0].reason})"


def without_silent_stdout(record: Record, names: Names) -> Record:
    """Return the record without the silence of code that never prints.

    smolagents' interpreter keeps what `print` writes, and nothing that a library writes by itself.
    """
    if "print" not in names.used and not record.stdout:
        return replace(record, stdout=None)
    return record
