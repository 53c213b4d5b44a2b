"""Programs of awk and sed: the files they open and the commands they run.

In: the text of a program. Out: findings for its targets; a review where a target is put together, or where
the text does not parse. Everything else in such a program only computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.shell.interpreters import run_text
from spanproof.sandbox.scanners.shell.walk import Shell
from spanproof.sandbox.scanners.shell.words import ansi


class Reach(NamedTuple):
    """What a program opens or runs: a file by its action, a command where that is None.

    `target` is None where it is not known.
    """

    action: Action | None
    target: str | None


def judge_awk(shell: Shell, text: str, node: Node) -> None:
    """Judge a program of awk."""
    if "ENVIRON" in text:
        shell.read_all_variables("awk", node)
    _judge(shell, "awk", _find_in_awk(text), node)


def judge_sed(shell: Shell, text: str, node: Node) -> None:
    """Judge a script of sed."""
    if _SED_MAY_REACH.search(text):
        _judge(shell, "sed", _find_in_sed(text), node)


def _judge(shell: Shell, program: str, reaches: Iterator[Reach], node: Node) -> None:
    for reach in reaches:
        if reach.target is None:
            shell.add("exec.dynamic", node, f"{program} opens or runs what is not known")
        elif reach.action is None:
            run_text(shell, reach.target, f"{program} runs a command: ", node)
        elif reach.target not in {"", "-"}:
            shell.judge_path(reach.action, ((reach.target,),), program, node)


# --- awk: texts are put aside, so that what they hold is not taken for code

_AWK_LITERAL: Final = re.compile(
    r"#[^\n]*+|(\"(?:[^\"\\\n]|\\.)*+\")|(?:(?<=[(,~!&|{};\n?:=<>*%^])\s*+|\A\s*+)/(?:[^/\n\\]|\\.)++/",
    re.DOTALL,
)
"""A comment, a text, and a pattern where one may stand."""

_ALONE: Final = r"\"(\d+)\"(?=\s*(?:[;})\n&|]|$))"
"""A text that is the whole of an expression."""

_AWK_GOES_ON: Final = re.compile(r"(?<=,|&|\|)[ \t]*+\n\s*+")
"""The end of a line that does not end a statement."""

_AWK_CALL: Final = re.compile(rf"\bsystem\s*+\(\s*+(?:{_ALONE})?")
_AWK_PIPE: Final = re.compile(
    r"(?:(?:\A|[({;}\n!&=]|\b(?:if|while)\b)\s*+\"(\d+)\"\s*+)?(?<!\|)\|(?!\|)&?\s*+(?:(getline\b)|"
    + _ALONE
    + ")?"
)
_AWK_INPUT: Final = re.compile(rf"(\bgetline\b)|([();}}\n])|<\s*+(?:{_ALONE})?")
_AWK_OUTPUT: Final = re.compile(rf"(\bprintf?\b)|([();}}\n])|>>?\s*+(?:{_ALONE})?")
_AWK_UNKNOWN: Final = re.compile(r"/inet/|\bARG[VC]\b|@(?:load|include)\b|@\w++\s*+\(")


def _find_in_awk(text: str) -> Iterator[Reach]:
    texts: list[str] = []

    def put_aside(found: re.Match[str]) -> str:
        if found[1] is None:
            return "\n" if found[0].startswith("#") else "0"
        texts.append(ansi(found[1][1:-1]))
        return f'"{len(texts) - 1}"'

    def named(number: str | None) -> str | None:
        return None if number is None else texts[int(number)]

    code = _AWK_LITERAL.sub(put_aside, text.replace("\\\n", " "))
    code = _AWK_GOES_ON.sub(" ", code)
    quotes = code.count('"') - 2 * len(texts)  # one left over may be that of a pattern, or begin a text
    if quotes or _AWK_UNKNOWN.search(code) or any(one.startswith("/inet") for one in texts):
        yield Reach(None, None)
    for found in _AWK_CALL.finditer(code):
        yield Reach(None, named(found[1]))
    for found in _AWK_PIPE.finditer(code):
        yield Reach(None, named(found[1] if found[2] else found[3]))
    for number in _redirected(_AWK_INPUT, code):
        yield Reach(Action.READ, named(number))
    for number in _redirected(_AWK_OUTPUT, code):
        yield Reach(Action.WRITE, named(number))


def _redirected(pattern: re.Pattern[str], code: str) -> Iterator[str | None]:
    """Yield the numbers of the texts that `getline` reads or `print` writes to; None where it is no text."""
    depth = -1  # of brackets since the statement; below 0 outside of one, where `<` and `>` compare
    for found in pattern.finditer(code):
        if found[1]:
            depth = 0
        elif depth >= 0 and found[2]:
            depth += {"(": 1, ")": -1}.get(found[2], 0)
            depth = -1 if depth == 0 and found[2] in ";}\n" else depth
        elif depth == 0:
            yield found[3]
            depth = -1


# --- sed: a command is an address, a letter and its operands

_SED_MAY_REACH: Final = re.compile(r"[ewWrR]")
_BRACKETS: Final = r"\[\^?+\]?+(?:\[[:.=][a-z]*+[:.=]\]|[^\]\n])*+\]"
_SED_ADDRESS: Final = re.compile(
    rf"(?:\d++(?:~\d++)?|\$|/(?:\\.|{_BRACKETS}|[^/\\\n])*+/[IM]*+"
    rf"|\\(?P<mark>[^\n\\])(?:\\.|(?!(?P=mark))[^\\\n])*+(?P=mark)[IM]*+|[,+~!\s{{}};])",
    re.DOTALL,
)
_SED_REST: Final = re.compile(r"[^\n]*+")
_SED_TEXT: Final = re.compile(r"(?:\\.|[^\\\n])*+", re.DOTALL)
_SED_LABEL: Final = re.compile(r"[^\n;}]*+")
_SED_FLAGS: Final = re.compile(r"[gpiImM\d]*+(?P<runs>e)?[gpiImM\d]*+(?:w\s*+(?P<file>[^\n]*+))?")


def _find_in_sed(text: str) -> Iterator[Reach]:
    at, end = 0, len(text)
    while at < end:
        address = _SED_ADDRESS.match(text, at)
        if address is not None:
            at = address.end()
            continue
        command = text[at]
        at += 1
        if command in "sy":
            found = _sed_operands(text, at)
            if found is None:
                yield Reach(None, None)
                return
            at = found.end()
            if command == "s":
                flags = _SED_FLAGS.match(text, at)
                if flags is not None:
                    at = flags.end()
                    if flags["runs"]:
                        yield Reach(None, None)
                    if flags["file"] is not None:
                        yield Reach(Action.WRITE, flags["file"])
        elif command in "rRwW":
            found = _SED_REST.match(text, at)
            at = found.end() if found is not None else end
            yield Reach(Action.READ if command in "rR" else Action.WRITE, found[0].strip() if found else None)
        elif command == "e":
            found = _SED_REST.match(text, at)
            at = found.end() if found is not None else end
            yield Reach(None, (found[0].strip() if found else "") or None)
        elif command in "aic#":
            found = (_SED_REST if command == "#" else _SED_TEXT).match(text, at)
            at = found.end() if found is not None else end
        elif command in ":btTvqQlL":
            found = _SED_LABEL.match(text, at)
            at = found.end() if found is not None else end
        elif command not in "=dDgGhHnNpPxzF":
            yield Reach(None, None)
            return


def _sed_operands(text: str, at: int) -> re.Match[str] | None:
    """The two parts of `s` or `y` between its marks, and the marks."""
    mark = re.escape(text[at : at + 1])
    if not mark or text[at] in "\\\n":
        return None
    part = rf"(?:\\.|{{}}(?!{mark})[^\\])*+{mark}"
    return re.compile(
        mark + part.format(rf"{_BRACKETS}|" if text[at] != "[" else "") + part.format(""), re.DOTALL
    ).match(text, at)
