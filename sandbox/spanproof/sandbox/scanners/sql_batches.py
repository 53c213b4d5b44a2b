"""Batches that name a statement or put it together, and run it: `EXEC sp_executesql @sql`, `PREPARE`.

In: a batch. Out: the same batch with the statements that it runs in place of the variables and the calls,
where these are put together from constants; None where it is not all of that form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from spanproof.sandbox.scanners.pieces import MAX_TEXT

# A backslash before a quote is one of the text in MySQL, and ends it elsewhere: such texts are not followed.
_TEXT: Final = r"N?'(?>(?:[^'\\]|''|\\(?!'))*)'"
_TERM: Final = re.compile(
    rf"\s*+(?:({_TEXT})|(@\w++)|(QUOTENAME|REVERSE|CONCAT)\s*+\(|(\d++))", re.IGNORECASE
)
_PLUS: Final = re.compile(r"\s*+(?:\+|\|\|)")
_COMMA: Final = re.compile(r"\s*+,")
_CLOSES: Final = re.compile(r"\s*+\)")

_DECLARE: Final = re.compile(r"DECLARE\s++", re.IGNORECASE)
_DECLARED: Final = re.compile(
    r"\s*+(@\w++)\s++(?:AS\s++)?\w++(?:\s*+\(\s*+\w++\s*+\))?\s*+(=)?", re.IGNORECASE
)
_SET: Final = re.compile(r"(?:SET|SELECT)\s++(@\w++)\s*+=", re.IGNORECASE)
_EXECUTE: Final = re.compile(r"EXEC(?:UTE)?(?:\s*+(\()|\s++(?:\w++\.){0,2}\.?sp_executesql\s)", re.IGNORECASE)
# What gives values to the parameters of the statement; these are data.
_PARAMETERS: Final = re.compile(
    rf"(?>(?:\s*+,\s*+(?:@\w++\s*+=\s*+)?(?:{_TEXT}|@\w++|-?[\d.]++))*)", re.IGNORECASE
)
_REST: Final = rf"(?>(?:{_TEXT}|[^;'])*)"
_OTHER: Final = re.compile(
    rf"(?:EXEC(?:UTE)?|RECONFIGURE|SELECT|WITH|PRINT|BEGIN|COMMIT|ROLLBACK|END)\b{_REST}", re.IGNORECASE
)
# A statement under a name, which is judged where it gets the name, and what is done by that name.
_NAMED: Final = re.compile(
    r"(?:PREPARE\s++(?P<prepared>\w++)\s*+(?:\([^()]*+\)\s*+)?(?:AS|(?P<text>FROM))"
    r"|DECLARE\s++(?P<cursor>\w++)\s++"
    r"(?>(?:(?:BINARY|INSENSITIVE|ASENSITIVE|NO|SCROLL|STATIC|LOCAL|FAST_FORWARD)\s++)*)CURSOR"
    r"\s++(?:WITH(?:OUT)?\s++HOLD\s++)?FOR)\s++",
    re.IGNORECASE,
)
_USED: Final = re.compile(
    r"(?:EXECUTE|(?:DEALLOCATE|DROP)(?:\s++PREPARE)?|OPEN|CLOSE|(?:FETCH|MOVE)\b[\w\s]*?)\s++(\w++)"
    r"(?:\s*+\((?>(?:'[^']*+'|[^()'])*)\)|\s++USING\s++[@\w\s,]++)?\s*+(?=;|\Z)",
    re.IGNORECASE,
)
_REST_OF_STATEMENT: Final = re.compile(_REST, re.IGNORECASE)
_BETWEEN: Final = re.compile(r"[\s;]*+")


class _Unfollowed(Exception):  # noqa: N818 - named after what happened
    """The batch is not of the form that is followed."""


class _Batch:
    """A reader of one batch; `variables` hold the texts put together so far, of which `length` is bounded."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.length = 0
        self.variables: dict[str, str] = {}
        self.names: set[str] = set()  # of statements that are prepared, and of cursors

    def evaluate(self) -> str:
        """Return the batch with each statement that it runs in the place where it does."""
        statements = []
        while self._find_next(_BETWEEN) is not None and self.at < len(self.text):
            if (found := self._find_next(_NAMED)) is not None:
                statements.append(self._read_named(found))
            elif (found := _USED.match(self.text, self.at)) is not None and found[1].lower() in self.names:
                self.at = found.end()
            elif self._find_next(_DECLARE) is not None:
                self._record_declared()
            elif (found := self._find_next(_SET)) is not None:
                self.variables[found[1].lower()] = self._read_text()
            elif (found := self._find_next(_EXECUTE)) is not None:
                statements.append(self._read_executed(in_brackets=bool(found[1])))
            elif (found := self._find_next(_OTHER)) is not None and "@" not in found[0]:
                statements.append(found[0])
            else:
                raise _Unfollowed
        return ";\n".join(statements)

    def _find_next(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found is not None else self.at
        return found

    def _record_declared(self) -> None:
        while (found := self._find_next(_DECLARED)) is not None:
            if found[2]:
                self.variables[found[1].lower()] = self._read_text()
            if self.text[self.at : self.at + 1] != ",":
                return
            self.at += 1
        raise _Unfollowed

    def _read_named(self, named: re.Match[str]) -> str:
        self.names.add((named["prepared"] or named["cursor"]).lower())
        if named["text"]:
            return self._read_text()
        statement = self._find_next(_REST_OF_STATEMENT)
        return statement[0] if statement is not None else ""

    def _read_executed(self, *, in_brackets: bool) -> str:
        statement = self._read_text()
        if in_brackets and self._find_next(_CLOSES) is None:
            raise _Unfollowed
        self._find_next(_PARAMETERS)
        return statement

    def _read_text(self) -> str:
        parts = [self._read_term()]
        while self._find_next(_PLUS) is not None:
            parts.append(self._read_term())
        self.length += sum(map(len, parts))
        if self.length > MAX_TEXT:
            raise _Unfollowed
        return "".join(parts)

    def _read_term(self) -> str:
        found = self._find_next(_TERM)
        if found is None:
            raise _Unfollowed
        literal, variable, function, number = found.groups()
        if literal:
            return str(literal).partition("'")[2][:-1].replace("''", "'")
        if number:
            return str(number)
        if variable:
            if variable.lower() not in self.variables:
                raise _Unfollowed
            return self.variables[variable.lower()]
        parts = [self._read_text()]
        while function.upper() == "CONCAT" and self._find_next(_COMMA) is not None:
            parts.append(self._read_text())
        if self._find_next(_CLOSES) is None:
            raise _Unfollowed
        return _FUNCTIONS[function.upper()]("".join(parts))


_FUNCTIONS: Final[dict[str, Callable[[str], str]]] = {
    "CONCAT": str,
    "REVERSE": lambda text: text[::-1],
    "QUOTENAME": lambda name: f"[{name.replace(']', ']]')}]",
}


def evaluate_batch(text: str) -> str | None:
    """Return a batch with the statements that it puts together; None where these are not all known."""
    if not (_EXECUTE.search(text) or _NAMED.search(text)):
        return None
    try:
        unfolded = _Batch(text).evaluate()
    except (_Unfollowed, RecursionError):
        return None
    return unfolded if unfolded.strip() else None
