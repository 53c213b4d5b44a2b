"""Programs that run code: shells, interpreters, `eval`, `source`, `trap`, aliases, texts of awk and sed.

In: a command whose operands or input are code. Out: the findings of that code, scanned in its own language; a
review, or a denial where it came over the network or out of a decoder, when it is not known. Of a program of
awk or sed the files that it opens and the commands that it runs are judged; everything else in it only
computes.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from spanproof.sandbox.scanners import nested
from spanproof.sandbox.scanners.boundary import Action, Pieces
from spanproof.sandbox.scanners.context import ARGUMENTS, MAX_NESTING
from spanproof.sandbox.scanners.pieces import merge_pieces
from spanproof.sandbox.scanners.reader.values import Items
from spanproof.sandbox.scanners.shell.catalogue import INSTALLERS, SHELLS, split_options
from spanproof.sandbox.scanners.shell.network import judge_sources
from spanproof.sandbox.scanners.shell.state import (
    NOTHING,
    UNKNOWN_STREAM,
    State,
    Stream,
    Words,
    join_words,
    merge_variables,
    read_known_text,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell, build_value
from spanproof.sandbox.scanners.shell.words import resolve_escapes
from spanproof.sandbox.words import split_words

_DOWNLOADED = frozenset({"network"})
_ENCODED = frozenset({"encoded"})
_TEXT_THAT_REACHES = re.compile(
    r"(?i)socket|fsockopen|TCPSocket|io\.popen|os\.execute|ProcessBuilder|Net::|LWP|HTTP::|open-uri|Invoke-|IEX"
)


def run_shell(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge a shell that is started: its command line, script or input."""
    operands, options = split_options(arguments, "O")
    if any(re.match(r"^-[a-zA-Z]*c[a-zA-Z]*$", option) for option in options):
        if operands:
            run_word(shell, operands[0], stdin.origin, f"{program} -c runs a command: ", node, operands[1:])
        return UNKNOWN_STREAM
    if operands:
        shell.judge_path(Action.READ, operands[0], program, node)
        if options == ["-n"]:
            return UNKNOWN_STREAM  # only looks for mistakes
        own_text = shell.find_own_text(operands[0])
        if read_known_text(operands[0]) == "/dev/fd/63":
            _run_stream(shell, stdin, f"{program} runs a script: ", node)
        elif own_text is not None:
            run_text(shell, own_text, f"{program} runs a script: ", node, operands)
        else:
            shell.add_unread_script(operands[0], program, node)
    elif "-i" in options:
        shell.add("exec.dynamic", node, f"starts an interactive {program}")
    else:
        _run_stream(shell, stdin, f"{program} runs a script: ", node)
    return UNKNOWN_STREAM


def _run_stream(shell: Shell, stdin: Stream, origin: str, node: Node) -> None:
    run_word(shell, stdin.words, stdin.origin, origin, node)


def run_word(
    shell: Shell,
    word: Words,
    taint: frozenset[str],
    origin: str,
    node: Node,
    given: Sequence[Words] = (),
    *,
    state: State | None = None,
) -> None:
    """Scan a text that is run as commands, in each of its alternatives.

    Args:
        shell: the reader of the script that holds it.
        word: the text.
        taint: where the text comes from.
        origin: a phrase put before its findings' messages.
        node: its place.
        given: its `$0`, `$1` and on.
        state: what it finds and changes; by default it gets the variables of the script, and changes none.
    """
    for pieces in word:
        if all(piece is None for piece in pieces):
            _report_unknown_code(shell, taint, node)
            continue
        text = "".join("$__unknown" if piece is None else piece for piece in pieces)
        run_text(shell, text, origin, node, given, state=state)


def _judge_eval(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Read a command in this shell itself: what it sets is set after it."""
    parts = [part for argument in arguments for part in (argument, ((" ",),))]
    state = shell.state
    before = dict(state.variables)
    after: dict[str, Words] = {}
    for pieces in join_words(parts[:-1]) if parts else ():
        state.replace_variables(before)
        run_word(shell, (pieces,), stdin.origin, "eval runs a command: ", node, state=state)
        merge_variables(after, state.variables)
    state.replace_variables(after or before)
    return UNKNOWN_STREAM


def _report_unknown_code(shell: Shell, taint: frozenset[str], node: Node) -> None:
    if taint & _DOWNLOADED:
        shell.add("exec.download", node, "runs what was just downloaded")
    elif taint & _ENCODED:
        shell.add("exec.payload", node, "runs what was just decoded")
    else:
        shell.add("exec.dynamic", node, "runs commands that are not known")


def run_text(
    shell: Shell,
    text: str,
    origin: str,
    node: Node,
    given: Sequence[Words] = (),
    *,
    state: State | None = None,
) -> None:
    """Scan a command line inside this one, with the names that are known here."""
    if shell.context.depth >= MAX_NESTING:
        shell.add("exec.payload", node, "hides commands in too many layers")
        return
    context = shell.nest(node, shell.context.origin + origin)
    if state is not None:
        shell.read_nested(context, text, state, whole=False)
        return
    state = State(
        dict(shell.state.variables), directories=list(shell.state.directories), start=shell.state.start
    )
    if given:
        state.variables["0"] = given[0]
        state.positional = tuple(given[1:])
    shell.read_nested(context, text, state)


def run_interpreter(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge an interpreter: its inline code, script or input."""
    operands, options = split_options(arguments, "mWX")
    flags = {
        option
        for option in options
        if option in {"-c", "-e", "-E", "-r", "--eval", "-p", "--print", "-pe", "-ne"}
    }
    if "-m" in options:
        return _judge_python_module(shell, arguments, node)
    if flags and operands:
        _scan_inline_code(shell, program, operands[0], stdin.origin, node, [(("-c",),), *operands[1:]])
        for operand in operands[1:]:
            shell.judge_path(Action.READ, operand, program, node)
    elif operands and _reads_input(arguments):
        given = operands if read_known_text(operands[0]) == "-" else [(("-",),), *operands]
        _scan_inline_code(shell, program, stdin.words, stdin.origin, node, given)
    elif operands:
        shell.judge_path(Action.READ, operands[0], program, node)
        own_text = shell.find_own_text(operands[0])
        if own_text is not None:
            _scan_inline_code(shell, program, ((own_text,),), frozenset(), node, operands)
        else:
            shell.add_unread_script(operands[0], program, node)
    elif not options:
        _scan_inline_code(shell, program, stdin.words, stdin.origin, node)
    return UNKNOWN_STREAM


def run_own_script(shell: Shell, text: str, fields: Sequence[Words], node: Node) -> None:
    """Scan a file that the script wrote and runs by its path, in the language that its first line names.

    Args:
        shell: the reader of the script.
        text: of the file.
        fields: its path and its arguments.
        node: the place of the command.
    """
    first_line = text.partition("\n")[0]
    program = first_line.rpartition("/")[2].split()[-1] if first_line.startswith("#!") else "sh"
    if program in SHELLS:
        run_text(shell, text, f"{program} runs a script: ", node, fields)
    else:
        _scan_inline_code(shell, program, ((text,),), frozenset(), node, fields)


def _reads_input(arguments: Sequence[Words]) -> bool:
    """Whether a `-` is where the script would be: `python3 - "$n" <<EOF`."""
    for argument in arguments:
        text = read_known_text(argument)
        if text is None or text == "-" or not text.startswith("-"):
            return text == "-"
    return False


_HARMLESS_MODULES = split_words(
    "json.tool this calendar timeit unittest pytest venv tabnanny ast py_compile compileall tokenize dis"
)


def _judge_python_module(shell: Shell, arguments: list[Words], node: Node) -> Stream:
    names = [read_known_text(argument) or "" for argument in arguments]
    module = names[names.index("-m") + 1] if names.index("-m") + 1 < len(names) else ""
    for argument in arguments:
        shell.judge_literals(argument, f"python -m {module}", node)
    if module in {"http.server", "SimpleHTTPServer"}:
        shell.add("network.listen", node, f"python -m {module} serves files")
    elif module == "pip" and not _describes(names[names.index("-m") + 2 :]):
        shell.add("command.install", node, "pip installs packages")
        judge_sources(shell, "pip", arguments, node)
    elif module not in _HARMLESS_MODULES and module != "pip":
        shell.add("exec.dynamic", node, f"python runs the module {module or 'that is not known'}")
    return UNKNOWN_STREAM


def _describes(arguments: Sequence[str]) -> bool:
    """Whether `pip` only says what is installed; a word that is not known may be anything."""
    verb = next((word for word in arguments if not word.startswith("-")), "")
    return "" not in arguments and verb not in split_words(f"{INSTALLERS['pip']} wheel uninstall sync")


def _scan_inline_code(
    shell: Shell,
    program: str,
    word: Words,
    taint: frozenset[str],
    node: Node,
    given: Sequence[Words] = (),
) -> None:
    """Scan a program in another language; `given` is what it is started as, and its arguments."""
    for pieces in word:
        if all(piece is None for piece in pieces):
            _report_unknown_code(shell, taint, node)
            continue
        text = "".join("__unknown" if piece is None else piece for piece in pieces)
        context = shell.nest(node, f"{program} runs code: ")
        context.values.pop(ARGUMENTS, None)
        if given:
            context.values[ARGUMENTS] = Items([build_value(one) for one in given])
        if program.startswith(("python", "pypy", "ipython")):
            nested.scan("python", context, text)
        elif program in {"node", "nodejs", "deno", "bun"}:
            nested.scan("javascript", context, text)
        elif _TEXT_THAT_REACHES.search(text):
            shell.add("process.shell", node, f"{program} runs code that reaches the network or a shell")
        else:
            shell.add("exec.dynamic", node, f"{program} runs code no scanner reads")


def _judge_source(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments[:1]:
        shell.judge_path(Action.READ, argument, program, node)
        own_text = shell.find_own_text(argument)
        if own_text is not None:
            # In this shell itself: what the script sets is set after it.
            run_text(shell, own_text, f"{program} runs a script: ", node, state=shell.state)
        elif read_known_text(argument) == "/dev/fd/63":
            shell.add(
                "exec.download" if "network" in stdin.origin else "exec.dynamic",
                node,
                "runs what another command writes",
            )
        else:
            shell.add_unread_script(argument, program, node)
    return NOTHING


def _judge_trap(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    text = read_known_text(arguments[0]) if arguments else None
    if not text or text.startswith("-") or len(arguments) < 2:
        return NOTHING
    # A function, which may be defined below, is read where it is called, or as one that nothing calls.
    defined = [one for one in shell.script.root.named_children if one.type == "function_definition"]
    names = [one.child_by_field_name("name") for one in defined]
    if all(name is None or shell.words.text(name) != text for name in names):
        run_text(shell, text, "a trap runs a command: ", node)
    return NOTHING


def _judge_alias(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments:
        text = read_known_text(argument) or ""
        name, equals, value = text.partition("=")
        if equals and value:
            shell.state.aliases[name] = value
            run_text(shell, value, f"the alias {name} runs a command: ", node)
    return NOTHING


def run_alias(shell: Shell, name: str, arguments: list[Words], node: Node) -> None:
    """Judge the command of an alias together with the arguments that it is called with."""
    words = [read_known_text(argument) for argument in arguments]
    quoted = ["$__unknown" if word is None else shlex.quote(word) for word in words]
    line = " ".join([shell.state.aliases[name], *quoted])
    run_text(shell, line, f"the alias {name} runs a command: ", node)


HANDLERS: Final[dict[str, Handler]] = {
    "eval": _judge_eval,
    "source": _judge_source,
    ".": _judge_source,
    "trap": _judge_trap,
    "alias": _judge_alias,
}
"""Built-ins that run code."""


class Reach(NamedTuple):
    """What a program opens or runs: a file by its action, a command where that is None.

    `target` is None where it is not known; `rest` is what follows it in the name of a file.
    """

    action: Action | None
    target: str | None
    rest: Pieces = ()


def judge_awk(shell: Shell, text: str, arguments: Sequence[Words], node: Node) -> None:
    """Judge a program of awk, whose arguments may give names a value."""
    if "ENVIRON" in text:
        shell.read_all_variables("awk", node)
    _judge_reaches(shell, "awk", _find_in_awk(text, _collect_assigned(arguments)), node)


def _collect_assigned(arguments: Sequence[Words]) -> dict[str, str | None]:
    """Return the names that arguments of awk give a value, and that value where `-v` gives it, and once."""
    assigned: dict[str, str | None] = {}
    before = ""
    for argument in arguments:
        found = _AWK_ASSIGNED.match(argument[0][0] or "")
        text = read_known_text(argument)
        if found is not None:
            is_sure = text is not None and found[1] not in assigned and "-v" in {before, text[:2]}
            assigned[found[1]] = text[found.end() :] if is_sure and text is not None else None
        before = text or ""
    return assigned


def judge_sed(shell: Shell, text: str, node: Node) -> None:
    """Judge a script of sed."""
    if _SED_MAY_REACH.search(text):
        _judge_reaches(shell, "sed", _find_in_sed(text), node)


def _judge_reaches(shell: Shell, program: str, reaches: Iterator[Reach], node: Node) -> None:
    for reach in reaches:
        if reach.target is None:
            shell.add("exec.dynamic", node, f"{program} opens or runs what is not known")
        elif reach.action is None:
            if program == "sed":
                shell.add("exec.dynamic", node, "sed runs a command, which edits no text")
            run_text(shell, reach.target, f"{program} runs a command: ", node)
        elif reach.target not in {"", "-"}:
            shell.judge_path(reach.action, (merge_pieces((reach.target, *reach.rest)),), program, node)


# --- awk: texts are put aside, so that what they hold is not taken for code

# A comment, a text, and a pattern where one may stand.
_AWK_LITERAL: Final = re.compile(
    r"#[^\n]*+|(\"(?>(?:[^\"\\\n]|\\.)*)\")|(?:(?<=[(,~!&|{};\n?:=<>*%^])\s*+|\A\s*+)/(?>(?:[^/\n\\]|\\.)+)/",
    re.DOTALL,
)

# A text that is the whole of an expression.
_ALONE: Final = r"\"(\d+)\"(?=\s*(?:[;})\n&|]|$))"

# The end of a line that does not end a statement.
_AWK_GOES_ON: Final = re.compile(r"(?<=,|&|\|)[ \t]*+\n\s*+")

_AWK_CALL: Final = re.compile(rf"\bsystem\s*+\(\s*+(?:{_ALONE})?")
_AWK_PIPE: Final = re.compile(
    r"(?:(?:\A|[({;}\n!&=]|\b(?:if|while)\b)\s*+\"(\d+)\"\s*+)?(?<!\|)\|(?!\|)&?\s*+(?:(getline\b)|"
    + _ALONE
    + ")?"
)
_AWK_INPUT: Final = re.compile(rf"(\bgetline\b)|([();}}\n])|<\s*+(?:{_ALONE})?")
_AWK_OUTPUT: Final = re.compile(rf"(\bprintf?\b)|([();}}\n])|>>?\s*+(?:{_ALONE})?")
# A text, and what else is put together with it: other texts, fields and names.
_AWK_JOINED: Final = r"\"\d+\"(?>(?:[ \t]*+(?:\"\d+\"|\$?\w++(?![\w\[(])))*)"
_AWK_JOINED_ALONE: Final = re.compile(
    rf"\s*+(?:\(\s*+({_AWK_JOINED})[ \t]*+\)|({_AWK_JOINED}))(?=[ \t]*+(?:[;}}\n]|\Z))"
)
_AWK_PART: Final = re.compile(r"\"(\d+)\"|\$?\w++")
_AWK_UNKNOWN: Final = re.compile(r"/inet/|\bARG[VC]\b|@(?:load|include)\b|@\w++\s*+\(")


def _find_in_awk(text: str, assigned: Mapping[str, str | None]) -> Iterator[Reach]:
    texts: list[str] = []

    def put_aside(found: re.Match[str]) -> str:
        if found[1] is None:
            return "\n" if found[0].startswith("#") else "0"
        texts.append(resolve_escapes(found[1][1:-1]))
        return f'"{len(texts) - 1}"'

    def named(number: str | None) -> str | None:
        return None if number is None else texts[int(number)]

    code = _AWK_LITERAL.sub(put_aside, text.replace("\\\n", " "))
    code = _AWK_GOES_ON.sub(" ", code)
    quotes = code.count('"') - 2 * len(texts)  # one left over may be that of a pattern, or begin a text
    if quotes or _AWK_UNKNOWN.search(code) or any(one.startswith("/inet") for one in texts):
        yield Reach(None, None)
    code = _put_in_constants(code, assigned, texts)
    for found in _AWK_CALL.finditer(code):
        yield Reach(None, named(found[1]))
    for found in _AWK_PIPE.finditer(code):
        yield Reach(None, named(found[1] if found[2] else found[3]))
    for found in _find_redirected(_AWK_INPUT, code):
        yield Reach(Action.READ, named(found[3]))
    for found in _find_redirected(_AWK_OUTPUT, code):
        first, *rest = merge_pieces([named(number) for number in _list_joined(code, found)])
        yield Reach(Action.WRITE, _select_followed(first, rest), tuple(rest))


def _select_followed(first: str | None, rest: Sequence[str | None]) -> str | None:
    """Return how the name of a file begins; None where it may be that of any file of the work directory."""
    is_in_folder = first is not None and "/" in first
    return first if is_in_folder or not rest else None


def _list_joined(code: str, redirected: re.Match[str]) -> list[str | None]:
    """Return the numbers of the texts that make the name of a file; None for each part that is none."""
    if redirected[3] is None:
        joined = _AWK_JOINED_ALONE.match(code, redirected.end())
    else:
        joined = None
    if joined is None:
        return [redirected[3]]
    return [number or None for number in _AWK_PART.findall(joined[1] or joined[2])]


# A statement that gives a name a text, or what is put together with one, and all that may change a name.
_AWK_CONSTANT: Final = re.compile(
    rf"(?:(?<=[{{;\n])|\A)\s*+([A-Za-z]\w*+)\s*+=\s*+({_AWK_JOINED})(?=[ \t]*+(?:[;}}\n]|\Z))"
)
_MOST_AWK: Final = 2_000
# `name=value` among the arguments of awk, or behind `-v`.
_AWK_ASSIGNED: Final = re.compile(r"(?:-v\s*+)?([A-Za-z_]\w*+)=")
_AWK_CHANGES: Final = (
    r"\b{0}\s*+(?:[-+*/%^]?=(?!=)|\+\+|--|\[)|(?:\+\+|--|\bgetline\s|\bfor\s*+\()\s*+{0}\b"
    r"|\b(?:g?sub|split|match)\s*+\([^\n;]*\b{0}\b|\bfunc(?:tion)?\b[^{{]*\b{0}\b"
)


def _put_in_constants(code: str, assigned: Mapping[str, str | None], texts: list[str]) -> str:
    """Return a program with the text in place of each name that only ever holds this one.

    Args:
        code: the program, with the numbers of its texts in their place.
        assigned: the names that its arguments give a value.
        texts: its texts, to which those of its arguments are added.
    """
    # Each name is looked for in the whole of a program: a long one is left as it is.
    for name, value in assigned.items():
        if value is not None and len(code) <= _MOST_AWK and not re.search(_AWK_CHANGES.format(name), code):
            texts.append(resolve_escapes(value))
            code = re.sub(rf"(?<![\w$]){name}\b(?!\s*+\()", f'"{len(texts) - 1}"', code)
    held = _AWK_CONSTANT.findall(code) if len(code) <= _MOST_AWK else []
    for name, text in dict(held).items():
        if name not in assigned and len(re.findall(_AWK_CHANGES.format(name), code)) == 1:
            code = re.sub(rf"(?<![\w$]){name}\b(?!\s*+(?:=(?!=)|\())", text, code)
    return code


def _find_redirected(pattern: re.Pattern[str], code: str) -> Iterator[re.Match[str]]:
    """Yield where `getline` reads or `print` writes, with the number of the text that names the file."""
    depth = -1  # of brackets since the statement; below 0 outside of one, where `<` and `>` compare
    for found in pattern.finditer(code):
        if found[1]:
            depth = 0
        elif depth >= 0 and found[2]:
            depth += {"(": 1, ")": -1}.get(found[2], 0)
            if depth == 0 and found[2] in ";}\n":
                depth = -1
        elif depth == 0:
            yield found
            depth = -1


# --- sed: a command is an address, a letter and its operands

_SED_MAY_REACH: Final = re.compile(r"[ewWrR]")
_BRACKETS: Final = r"\[\^?+\]?+(?>(?:\[[:.=][a-z]*+[:.=]\]|[^\]\n])*)\]"
_SED_ADDRESS: Final = re.compile(
    rf"(?:\d++(?:~\d++)?|\$|/(?>(?:\\.|{_BRACKETS}|[^/\\\n])*)/[IM]*+"
    rf"|\\(?P<mark>[^\n\\])(?>(?:\\.|(?!(?P=mark))[^\\\n])*)(?P=mark)[IM]*+|[,+~!\s{{}};])",
    re.DOTALL,
)
_SED_REST: Final = re.compile(r"[^\n]*+")
_SED_TEXT: Final = re.compile(r"(?>(?:\\.|[^\\\n])*)", re.DOTALL)
_SED_LABEL: Final = re.compile(r"[^\n;}]*+")
_SED_FLAGS: Final = r"[gpiImM\d]*+(?P<runs>e)?[gpiImM\d]*+(?:w\s*+(?P<file>[^\n]*+))?"
# What follows the letter of a command; the parts of `s` and `y` depend on their mark.
_SED_OPERANDS: Final = {
    **dict.fromkeys("rRwWe#", _SED_REST),
    **dict.fromkeys("aic", _SED_TEXT),
    **dict.fromkeys(":btTvqQlL", _SED_LABEL),
    **dict.fromkeys("=dDgGhHnNpPxzF", re.compile("")),
}


def _find_in_sed(text: str) -> Iterator[Reach]:
    at = 0
    while at < len(text):
        address = _SED_ADDRESS.match(text, at)
        if address is not None:
            at = address.end()
            continue
        command = text[at]
        operands = _match_sed_operands(command, text, at + 1)
        if operands is None:
            yield Reach(None, None)
            return
        at = operands.end()
        match command:
            case "s":
                if operands["runs"]:
                    yield Reach(None, None)
                if operands["file"] is not None:
                    yield Reach(Action.WRITE, operands["file"])
            case "r" | "R":
                yield Reach(Action.READ, operands[0].strip())
            case "w" | "W":
                yield Reach(Action.WRITE, operands[0].strip())
            case "e":
                yield Reach(None, operands[0].strip() or None)


def _match_sed_operands(command: str, text: str, at: int) -> re.Match[str] | None:
    """Match what a command of sed works with; None where there is no such command, or it is not whole."""
    if command not in "sy":
        pattern = _SED_OPERANDS.get(command)
        return pattern.match(text, at) if pattern is not None else None
    # Two parts between marks, and the flags of `s`.
    mark = re.escape(text[at : at + 1])
    if not mark or text[at] in "\\\n":
        return None
    part = rf"(?>(?:\\.|(?!{mark})[^\\])*){mark}"
    # In the first, a mark in brackets ends nothing.
    first = rf"(?>(?:\\.|{_BRACKETS}|(?!{mark})[^\\])*){mark}" if text[at] != "[" else part
    flags = _SED_FLAGS if command == "s" else ""
    return re.compile(mark + first + part + flags, re.DOTALL).match(text, at)
