"""What one command of a script does: the program is looked up, its operands are held against the boundary.

In: the expanded fields of a command and what it reads. Out: findings, and what the command writes, as far as
that is known. Programs that run others (`sudo`, `xargs`, `bash -c`, `python -c`) hand them on.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action, Pieces
from spanproof.sandbox.scanners.pieces import ENTRY, bounded, merged
from spanproof.sandbox.scanners.shell import files, interpreters, network
from spanproof.sandbox.scanners.shell.catalogue import (
    DENIED,
    HARMLESS,
    INSTALLERS,
    INTERPRETERS,
    NETWORK,
    OPERANDS,
    SHELLS,
    WRAPPER_OPERANDS,
    WRAPPER_VALUED,
    WRAPPERS,
)
from spanproof.sandbox.scanners.shell.files import operands_in_role
from spanproof.sandbox.scanners.shell.interpreters import run_interpreter, run_shell
from spanproof.sandbox.scanners.shell.network import send_statements, values_of
from spanproof.sandbox.scanners.shell.options import after_options, split_options
from spanproof.sandbox.scanners.shell.state import (
    HOLE,
    MAX_ALTERNATIVES,
    NOTHING,
    OWN_JOB,
    UNKNOWN_STREAM,
    Stream,
    Words,
    known,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.scanners.sql import Database

_ABSOLUTE = re.compile(r"^(?:--?[\w-]+=)?((?:/|~/|\.\./)[\w.+@~/*?\[\]{}-]*)$")


def run(shell: Shell, fields: Sequence[Words], stdin: Stream, node: Node) -> Stream:
    """Judge one command; gives what it writes."""
    head = fields[0]
    if len(head) > 1:
        streams = [run(shell, [(option,), *fields[1:]], stdin, node) for option in head]
        return streams[0]
    name = known(head)
    arguments = list(fields[1:])
    if name is None:
        _unknown_program(shell, head, arguments, node)
        return UNKNOWN_STREAM
    if name in shell.state.aliases:
        return UNKNOWN_STREAM  # read where it was made
    if name in shell.state.functions:
        return shell.call_function(name, arguments, stdin, node)
    program = name.rpartition("/")[2] or name
    policy = shell.context.boundary.policy
    if program in policy.denied_commands:
        shell.add("command.denied", node, f"runs {program}, which the policy denies")
    if program in policy.allowed_commands:
        return UNKNOWN_STREAM
    return _dispatch(shell, name, program, arguments, stdin, node)


def _dispatch(
    shell: Shell, name: str, program: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    handler = _HANDLERS.get(program)
    if handler is not None:
        return handler(shell, program, arguments, stdin, node)
    rule = DENIED.get(program) or ("system.change" if program.startswith(("mkfs.", "fsck.")) else None)
    if rule is not None:
        shell.add(rule, node, f"runs {program}")
        return UNKNOWN_STREAM
    if program in SHELLS:
        return run_shell(shell, program, arguments, stdin, node)
    if program in INTERPRETERS or re.match(r"^python\d(?:\.\d+)?$", program):
        return run_interpreter(shell, program, arguments, stdin, node)
    if program in NETWORK:
        return network.reach(shell, program, arguments, stdin, node)
    if program in INSTALLERS:
        return _installer(shell, program, arguments, node)
    if program in WRAPPERS:
        return _wrapper(shell, program, arguments, stdin, node)
    role = OPERANDS.get(program)
    if role is not None:
        return operands_in_role(shell, program, role, arguments, stdin, node)
    return _other(shell, name, arguments, node)


def _installer(shell: Shell, program: str, arguments: list[Words], node: Node) -> Stream:
    verbs = INSTALLERS[program].split()
    first = next((text for one in arguments if (text := known(one)) and not text.startswith("-")), "")
    if not verbs or first in verbs:
        shell.add("command.install", node, f"{program} fetches and installs packages")
        network.judge_sources(shell, program, arguments, node)
    return UNKNOWN_STREAM


def _wrapper(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if program in {"sudo", "doas"}:
        shell.add("privilege.change", node, f"{program} runs a command as another user")
    if program == "env" and not arguments:
        crossing = shell.context.boundary.environment("")
        shell.context.crossed("shell", crossing, shell.place(node), "env:")
        return Stream(HOLE, frozenset({"environment"}))
    rest = after_options(arguments, WRAPPER_VALUED.get(program, ""))
    rest = rest[WRAPPER_OPERANDS.get(program, 0) :]
    while rest and (text := known(rest[0])) is not None and "=" in text and program in {"env", "sudo"}:
        rest = rest[1:]
    if not rest:
        return stdin
    if program in {"xargs", "parallel"}:
        # What xargs adds comes from its input; a replaced mark is the same.
        added = [one for pieces in stdin.words for one in _lines(pieces)]
        marks = {"{}", "{.}", "%"}
        rest = [
            tuple(added) if known(one) in marks and added else HOLE if known(one) in marks else one
            for one in rest
        ]
        if not any(known(one) in marks for one in arguments):
            rest = [*rest, tuple(added) or HOLE]
    return run(shell, rest, stdin, node)


def _lines(pieces: Pieces) -> Sequence[Pieces]:
    if len(pieces) == 1 and pieces[0] is not None:
        return bounded(((line,) for line in pieces[0].split()), MAX_ALTERNATIVES)
    return [pieces]


def _find(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    roots: list[Words] = []
    for argument in arguments:
        text = known(argument)
        if text is not None and (text.startswith("-") or text in {"(", "!", "\\("}):
            break
        roots.append(argument)
    texts = [known(argument) for argument in arguments]
    action = Action.DELETE if "-delete" in texts else Action.READ
    for root in roots or [((".",),)]:
        # Deleting what `find .` finds leaves the directory itself.
        below = tuple(
            (*pieces[:-1], (pieces[-1] or "") + "/" + ENTRY) if pieces[-1] is not None else pieces
            for pieces in root
        )
        shell.judge_path(action, below if action is Action.DELETE else root, program, node)
    for start, flag in enumerate(texts, start=1):
        if flag in {"-exec", "-execdir", "-ok", "-okdir"}:
            stop = next((at for at in range(start, len(texts)) if texts[at] in {";", "+", "\\;"}), len(texts))
            found = tuple(
                ((*pieces, "/" + ENTRY) if pieces != (".",) else ("./" + ENTRY,))
                for root in roots
                for pieces in root
            )
            rest = [(found or ((ENTRY,),)) if known(one) == "{}" else one for one in arguments[start:stop]]
            if rest:
                run(shell, [tuple(merged(p) for p in one) for one in rest], UNKNOWN_STREAM, node)
        elif flag in {"-fprint", "-fprintf", "-fls"} and start < len(arguments):
            shell.judge_path(Action.WRITE, arguments[start], program, node)
    return (
        Stream((("./" + ENTRY,),))
        if not roots
        else Stream(tuple(merged((*p, "/" + ENTRY)) for p in roots[0]))
    )


def _kill(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, options = split_options(arguments, "sn")
    if "-l" in options or "-L" in options:
        return UNKNOWN_STREAM
    if all((known(one) or "").startswith(("%", OWN_JOB)) for one in operands) and operands:
        return NOTHING
    shell.add("process.signal", node, "kill signals processes")
    return NOTHING


def _read(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    names, _ = split_options(arguments, "pdnNtuia")
    lines = bounded((line for pieces in stdin.words for line in _whole_lines(pieces)), MAX_ALTERNATIVES)
    for index, word in enumerate(names):
        name = known(word)
        if name is not None:
            shell.state.variables[name] = lines if len(names) == 1 and index == 0 and lines else HOLE
            if stdin.origin:
                shell.state.origins[name] = stdin.origin
    return NOTHING


def _whole_lines(pieces: Pieces) -> Sequence[Pieces]:
    if len(pieces) == 1 and pieces[0] is not None:
        return [(line,) for line in pieces[0].splitlines() if line]
    return [pieces]


def _set(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if not arguments:
        shell.context.crossed("shell", shell.context.boundary.environment(""), shell.place(node), "set:")
    texts = [known(argument) for argument in arguments]
    if "--" in texts:
        shell.state.positional = tuple(arguments[texts.index("--") + 1 :])
    return NOTHING


def _shift(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    count = known(arguments[0]) if arguments else "1"
    given = shell.state.positional
    if given is not None:
        shell.state.positional = given[int(count) :] if count is not None and count.isdigit() else None
    return NOTHING


def _history(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("process.inspect", node, "reads or clears the shell's history")
    return NOTHING


def _sqlite(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, _ = split_options(arguments, "c" if program == "duckdb" else "")
    given = [pieces for pieces in operands[0] if pieces not in {("",), (":memory:",)}] if operands else []
    if given:
        shell.judge_path(Action.WRITE, tuple(given), program, node)
    database = Database.FILE if given else Database.MEMORY
    sent = [*operands[1:], *values_of(arguments, {"-c", "-s", "-cmd"})]
    send_statements(shell, program, sent or [stdin.words], database, node)
    return UNKNOWN_STREAM


def _git(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, _ = split_options(arguments, "Cc")
    verb = known(operands[0]) if operands else None
    if verb in {"clone", "fetch", "pull", "push", "ls-remote", "submodule", "remote"}:
        urls = [one for one in operands[1:] if "://" in (known(one) or "") or "@" in (known(one) or "")]
        for url in urls:
            network.judge_url(shell, url, "git", node)
        if not urls and verb in {"fetch", "pull", "push", "clone"}:
            shell.add("network.dynamic", node, f"git {verb} reaches a host that is not known")
    return UNKNOWN_STREAM


def _unknown_program(shell: Shell, head: Words, arguments: list[Words], node: Node) -> None:
    shell.add("command.dynamic", node, "runs a program that is not known")
    _judge_operands_of_unknown(shell, "a program", arguments, node)


def _other(shell: Shell, name: str, arguments: list[Words], node: Node) -> Stream:
    if any(mark in name for mark in "*?["):
        shell.add("command.dynamic", node, f"runs a program by a pattern, {name[:60]}")
    elif name.rpartition("/")[2] not in HARMLESS:
        if name.startswith(("/", "~", "../")):
            shell.judge_path(Action.READ, ((name,),), "runs a program:", node)
        shell.add("command.unknown", node, f"runs {name[:60]}, which is no program the scanner knows")
    _judge_operands_of_unknown(shell, name.rpartition("/")[2], arguments, node)
    return UNKNOWN_STREAM


def _judge_operands_of_unknown(shell: Shell, who: str, arguments: list[Words], node: Node) -> None:
    """What looks like a path outside is taken for one, whatever the program."""
    for argument in arguments:
        for pieces in argument:
            found = _ABSOLUTE.match(pieces[0] or "")
            if found is not None:
                shell.judge_path(Action.READ, ((found[1], *pieces[1:]),), who, node)


_HANDLERS: Final[dict[str, Handler]] = {
    **interpreters.HANDLERS,
    **files.HANDLERS,
    "find": _find, "kill": _kill, "read": _read, "set": _set, "shift": _shift, "history": _history,
    "sqlite3": _sqlite, "duckdb": _sqlite, "git": _git, }  # fmt: skip
"""Programs whose operands need more than a role."""
