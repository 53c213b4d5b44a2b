"""What one command of a script does: the program is looked up, its operands are held against the boundary.

In: the expanded fields of a command and what it reads. Out: findings, and what the command writes, as far as
that is known. Programs that run others (`sudo`, `xargs`, `bash -c`, `python -c`) hand them on.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action, Pieces, UseKind
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pieces import ENTRY, limit_texts, merge_pieces
from spanproof.sandbox.scanners.policy_lines import format_addition
from spanproof.sandbox.scanners.shell import directories, files, interpreters, network
from spanproof.sandbox.scanners.shell.catalogue import (
    COMMAND_OPTIONS,
    DENIED,
    HARMLESS,
    INSTALLERS,
    INTERPRETERS,
    NETWORK,
    NETWORK_KINDS,
    OPERANDS,
    PROJECT_TOOLS,
    SHELLS,
    WRAPPER_OPERANDS,
    WRAPPER_VALUED,
    WRAPPERS,
    drop_text_options,
    skip_options,
    split_options,
)
from spanproof.sandbox.scanners.shell.command_patterns import (
    Match,
    find_allowed,
    format_command,
    match_denied,
)
from spanproof.sandbox.scanners.shell.files import judge_operands
from spanproof.sandbox.scanners.shell.interpreters import run_alias, run_interpreter, run_shell, run_word
from spanproof.sandbox.scanners.shell.network import find_option_values, send_statements
from spanproof.sandbox.scanners.shell.state import (
    HOLE,
    MAX_ALTERNATIVES,
    NOTHING,
    OWN_JOB,
    UNKNOWN_STREAM,
    Stream,
    Words,
    join_words,
    read_known_text,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.scanners.sql import Connection, Database

_ABSOLUTE = re.compile(r"^(?:--?[\w-]+=)?((?:/|~/|\.\./)[\w.+@~/*?\[\]{}-]*)$")


# Built-ins that take the names of variables, subscripts included.
_SUBSCRIPTED: Final = frozenset({"test", "[", "printf", "read", "unset", "wait", "getopts"})


def run(shell: Shell, fields: Sequence[Words], stdin: Stream, node: Node) -> Stream:
    """Judge one command; gives what it writes."""
    head = fields[0]
    if len(head) > 1:
        streams = [run(shell, [(option,), *fields[1:]], stdin, node) for option in head]
        return streams[0]
    name = read_known_text(head)
    arguments = list(fields[1:])
    if name in _SUBSCRIPTED:
        for one in arguments:
            shell.run_subscripts(one, node)
    if name is None:
        _judge_unknown_program(shell, head, arguments, node)
        return UNKNOWN_STREAM
    if name in shell.state.aliases:
        if arguments:  # without, it was read where it was made
            run_alias(shell, name, arguments, node)
        return UNKNOWN_STREAM
    if name in shell.state.functions:
        return shell.call_function(name, arguments, stdin, node)
    own_text = shell.find_own_text(head) if "/" in name else None
    if own_text is not None:
        interpreters.run_own_script(shell, own_text, fields, node)
        return UNKNOWN_STREAM
    program = name.rpartition("/")[2] or name
    _judge_permission(shell, program, arguments, node)
    policy = shell.context.boundary.policy
    if find_allowed(policy.allowed_commands, program, arguments) is not None:
        if program in INSTALLERS:
            network.judge_sources(shell, program, arguments, node)
        return UNKNOWN_STREAM
    return _dispatch(shell, name, program, arguments, stdin, node)


def _judge_permission(shell: Shell, program: str, arguments: list[Words], node: Node) -> None:
    """Note the use of a program that needs permission, and judge one that the policy denies."""
    boundary = shell.context.boundary
    if _needs_permission(program):
        boundary.note_use(UseKind.COMMAND, format_command(program, arguments))
    match match_denied(boundary.policy.denied_commands, program, arguments):
        case Match.DENIED:
            shell.add(
                "command.denied", node, f"runs {format_command(program, arguments)}, which the policy denies"
            )
        case Match.UNKNOWN:
            shell.add("command.dynamic", node, f"runs {program}, which the policy denies for some arguments")
        case Match.NONE:
            pass


def _needs_permission(program: str) -> bool:
    """Whether a program runs only where the policy allows it: it is denied, installs, or is not known."""
    if program in DENIED or program in INSTALLERS or NETWORK_KINDS.get(program) == "cloud":
        return True
    known = (_HANDLERS, SHELLS, INTERPRETERS, NETWORK, WRAPPERS, OPERANDS, HARMLESS)
    return not any(program in group for group in known) and not program.startswith((".", "/"))


def _dispatch(
    shell: Shell, name: str, program: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    _run_options(shell, program, arguments, node)
    if (
        len(arguments) == 1
        and read_known_text(arguments[0]) in {"--version", "--help"}
        and name in _DESCRIBED
    ):
        return UNKNOWN_STREAM
    handler = _HANDLERS.get(program)
    if handler is not None:
        return handler(shell, program, arguments, stdin, node)
    rule = DENIED.get(program) or ("system.change" if program.startswith(("mkfs.", "fsck.")) else None)
    if rule is not None:
        shell.add(rule, node, f"runs {program}", policy_line=format_addition("allowed_commands", program))
        return UNKNOWN_STREAM
    if program in SHELLS:
        return run_shell(shell, program, arguments, stdin, node)
    if program in INTERPRETERS or re.match(r"^python\d(?:\.\d+)?$", program):
        return run_interpreter(shell, program, arguments, stdin, node)
    if program in NETWORK:
        return network.reach(shell, program, arguments, stdin, node)
    if program in INSTALLERS:
        return _judge_installer(shell, program, arguments, node)
    if program in WRAPPERS:
        return _judge_wrapper(shell, program, arguments, stdin, node)
    role = OPERANDS.get(program)
    if role is not None:
        return judge_operands(shell, program, role, arguments, stdin, node)
    return _judge_other_program(shell, name, arguments, node)


# Programs that are known to print their version or help, and to do no more then.
_DESCRIBED: Final = frozenset({*DENIED, *NETWORK, *INSTALLERS, *WRAPPERS})


def _run_options(shell: Shell, program: str, arguments: list[Words], node: Node) -> None:
    """Read the command lines that a program gets by its options."""
    options = COMMAND_OPTIONS.get(program)
    for line in find_option_values(arguments, options) if options is not None else ():
        plain = tuple(((pieces[0] or "").removeprefix("exec="), *pieces[1:]) for pieces in line)
        run_word(shell, plain, frozenset(), f"{program} runs a command: ", node)


def _judge_installer(shell: Shell, program: str, arguments: list[Words], node: Node) -> Stream:
    verbs = INSTALLERS[program].split()
    texts = [read_known_text(one) or "?" for one in arguments]
    first = next((text for text in texts if not text.startswith("-")), "")
    runs_own = program == "npx" and first in PROJECT_TOOLS and texts[0] in {first, "--no", "--no-install"}
    if (not verbs and not runs_own) or first in verbs:
        line = format_addition("allowed_commands", f"{program} {first}".strip())
        shell.add("command.install", node, f"{program} fetches and installs packages", policy_line=line)
        network.judge_sources(shell, program, arguments, node)
    else:
        for one in arguments:
            shell.judge_literals(one, program, node)
    return UNKNOWN_STREAM


# The options of `command` that print what a name means, and run nothing.
_LOOKS_UP: Final = re.compile(r"-p?[vV]")


def _judge_wrapper(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if program in {"sudo", "doas"}:
        shell.add("privilege.change", node, f"{program} runs a command as another user")
    if program == "env":
        return _judge_env(shell, arguments, stdin, node)
    if program == "command" and arguments and _LOOKS_UP.fullmatch(read_known_text(arguments[0]) or ""):
        return UNKNOWN_STREAM
    rest = skip_options(arguments, WRAPPER_VALUED.get(program, ""))
    rest = rest[WRAPPER_OPERANDS.get(program, 0) :]
    for one in arguments[: len(arguments) - len(rest)]:
        shell.judge_literals(one, program, node)
    if program in {"xargs", "parallel"}:
        for file in find_option_values(arguments, {"-a", "--arg-file", "--joblog"}):
            shell.judge_path(Action.READ, file, program, node)
    while rest and program == "sudo" and "=" in (read_known_text(rest[0]) or ""):
        rest = rest[1:]
    if not rest:
        return stdin
    if program in {"xargs", "parallel"}:
        # What xargs adds comes from its input; a replaced mark is the same.
        added = [one for pieces in stdin.words for one in _split_into_words(pieces)]
        marks = {"{}", "{.}", "%"}
        rest = [
            tuple(added)
            if read_known_text(one) in marks and added
            else HOLE
            if read_known_text(one) in marks
            else one
            for one in rest
        ]
        if not any(read_known_text(one) in marks for one in arguments):
            rest = [*rest, tuple(added) or HOLE]
    return run(shell, rest, stdin, node)


def _judge_env(shell: Shell, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Run a command with the variables that `env` sets for it; without a command `env` writes all."""
    rest = skip_options(arguments, WRAPPER_VALUED.get("env", ""))
    options = arguments[: len(arguments) - len(rest)]
    for one in options:
        shell.judge_literals(one, "env", node)
    given: set[str] = set()
    while rest and "=" in (text := read_known_text(rest[0]) or ""):
        given.add(text.partition("=")[0])
        rest = rest[1:]
    outer = shell.given, shell.clears_environment
    shell.given = shell.given | given
    shell.clears_environment |= any(
        read_known_text(one) in {"-", "-i", "--ignore-environment"} for one in options
    )
    try:
        if rest:
            return run(shell, rest, stdin, node)
        if not shell.clears_environment and shell.read_all_variables("env", node):
            return Stream(HOLE, frozenset({"environment"}))
        return UNKNOWN_STREAM
    finally:
        shell.given, shell.clears_environment = outer


def _judge_printenv(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge `printenv`, which writes the variables that it names, or all."""
    names = [read_known_text(one) for one in arguments if (read_known_text(one) or "")[:1] != "-"]
    read = [
        shell.crossed(shell.context.judge_variable(name or ""), "printenv", node)
        for name in names or [""]
        if name is None or name not in shell.given
    ]
    return Stream(HOLE, frozenset({"environment"}) if any(read) else frozenset())


def _split_into_words(pieces: Pieces) -> Sequence[Pieces]:
    if len(pieces) == 1 and pieces[0] is not None:
        return limit_texts(((line,) for line in pieces[0].split()), MAX_ALTERNATIVES)
    return [pieces]


def _judge_find(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    roots: list[Words] = []
    for argument in arguments:
        text = read_known_text(argument)
        if text is not None and (text.startswith("-") or text in {"(", "!", "\\("}):
            break
        roots.append(argument)
    texts = [read_known_text(argument) for argument in arguments]
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
            rest = [
                (found or ((ENTRY,),)) if read_known_text(one) == "{}" else one
                for one in arguments[start:stop]
            ]
            if rest:
                run(shell, [tuple(merge_pieces(p) for p in one) for one in rest], UNKNOWN_STREAM, node)
        elif flag in {"-fprint", "-fprintf", "-fls"} and start < len(arguments):
            shell.judge_path(Action.WRITE, arguments[start], program, node)
    return (
        Stream((("./" + ENTRY,),))
        if not roots
        else Stream(tuple(merge_pieces((*p, "/" + ENTRY)) for p in roots[0]))
    )


def _judge_kill(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, options = split_options(arguments, "sn")
    if "-l" in options or "-L" in options:
        return UNKNOWN_STREAM
    if all((read_known_text(one) or "").startswith(("%", OWN_JOB)) for one in operands) and operands:
        return NOTHING
    shell.add("process.signal", node, "kill signals processes")
    return NOTHING


def _judge_read(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    names, _ = split_options(arguments, "pdnNtuia")
    lines = limit_texts((line for pieces in stdin.words for line in _split_lines(pieces)), MAX_ALTERNATIVES)
    for index, word in enumerate(names):
        name = read_known_text(word)
        if name is not None:
            is_last = index == len(names) - 1
            fields = lines if len(names) == 1 else _select_fields(shell, lines, index, is_last=is_last)
            shell.state.variables[name] = fields or HOLE
            if stdin.origin:
                shell.state.origins[name] = stdin.origin
    return NOTHING


def _select_fields(shell: Shell, lines: Words, index: int, *, is_last: bool) -> Words:
    """Return what a name of several gets of each line: its place's field, the last one all that is left."""
    marks = read_known_text(shell.state.variables.get("IFS", ((" \t\n",),)))
    if not lines or not marks or any(len(pieces) != 1 or pieces[0] is None for pieces in lines):
        return HOLE
    split = f"[{re.escape(marks)}]" + ("+" if marks.isspace() else "")
    texts = [(pieces[0] or "").strip() if marks.isspace() else pieces[0] or "" for pieces in lines]
    parts = [re.split(split, text, maxsplit=index if is_last else 0) for text in texts]
    return tuple((one[index],) if index < len(one) else ("",) for one in parts)


def _split_lines(pieces: Pieces) -> Sequence[Pieces]:
    if len(pieces) == 1 and pieces[0] is not None:
        return [(line,) for line in pieces[0].splitlines() if line]
    return [pieces]


def _judge_printf(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    given = arguments[2:]
    name = (
        read_known_text(arguments[1])
        if len(arguments) > 1 and read_known_text(arguments[0]) == "-v"
        else None
    )
    if name is None:
        return judge_operands(shell, program, "none", arguments, stdin, node)
    written = files.derive_output(program, given, given, stdin)
    shell.state.variables[name] = written.words if written is not None else HOLE
    return NOTHING


# `set -e`, also among other options.
_ERREXIT: Final = re.compile(r"[-+][a-zA-Z]*e[a-zA-Z]*")


def _judge_set(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if not arguments:
        shell.read_all_variables("set", node)
    texts = [read_known_text(argument) for argument in arguments]
    for text in texts:
        if text is not None and _ERREXIT.fullmatch(text):
            shell.state.ends_at_failure = text[0] == "-"
    if "errexit" in texts:
        shell.state.ends_at_failure = "-o" in texts
    if "--" in texts:
        shell.state.positional = tuple(arguments[texts.index("--") + 1 :])
    return NOTHING


def _judge_shift(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    count = read_known_text(arguments[0]) if arguments else "1"
    given = shell.state.positional
    if given is not None:
        shell.state.positional = given[int(count) :] if count is not None and count.isdigit() else None
    return NOTHING


def _judge_history(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("process.inspect", node, "reads or clears the shell's history")
    return NOTHING


def _judge_sqlite(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    arguments = drop_text_options(program, arguments)
    operands, _ = split_options(arguments, "c" if program == "duckdb" else "")
    given = [pieces for pieces in operands[0] if pieces not in {("",), (":memory:",)}] if operands else []
    if given:
        shell.judge_path(Action.WRITE, tuple(given), program, node)
    database = (
        Connection(Database.FILE, file=read_known_text(tuple(given)) or "")
        if given
        else Connection(Database.MEMORY)
    )
    sent = [*operands[1:], *find_option_values(arguments, {"-c", "-s", "-cmd"})]
    send_statements(shell, program, sent or [stdin.words], database, node)
    return UNKNOWN_STREAM


def _judge_git(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, _ = split_options(arguments, "Cc")
    verb = read_known_text(operands[0]) if operands else None
    settings = find_option_values(arguments[: _find_argument(arguments, verb)], {"-c", "--config-env"})
    if verb == "config" and len(operands) > 2:
        settings.append(join_words([operands[-2], (("=",),), operands[-1]]))
    if verb == "clone":
        settings += find_option_values(arguments, {"-c", "--config"})
    for setting in settings:
        _judge_git_setting(shell, setting, node)
    texts = [read_known_text(one) or "" for one in arguments]
    if verb == "submodule" and "foreach" in texts:
        run_word(
            shell, join_words(_separate_by_blanks(operands[2:])), frozenset(), "git runs a command: ", node
        )
    elif verb == "bisect" and "run" in texts:
        run(shell, operands[2:], UNKNOWN_STREAM, node) if len(operands) > 2 else None
    _run_options(shell, f"git-{verb}", arguments, node)
    for one in arguments:
        if any((pieces[0] or "").startswith("ext::") for pieces in one):
            shell.add("exec.dynamic", node, "git runs the command of an ext:: address")
        shell.judge_literals(one, program, node)
    if verb in {"clone", "fetch", "pull", "push", "ls-remote", "submodule", "remote"}:
        urls = [
            one
            for one in operands[1:]
            if "://" in (read_known_text(one) or "") or "@" in (read_known_text(one) or "")
        ]
        for url in urls:
            network.judge_url(shell, url, "git", node)
        if not urls and verb in {"fetch", "pull", "push", "clone"}:
            shell.add("network.dynamic", node, f"git {verb} reaches a host that is not known")
    return UNKNOWN_STREAM


def _find_argument(arguments: list[Words], verb: str | None) -> int:
    return next((at for at, one in enumerate(arguments) if read_known_text(one) == verb), len(arguments))


def _separate_by_blanks(fields: Sequence[Words]) -> list[Words]:
    return [part for field in fields for part in (field, ((" ",),))]


# Settings of git whose value is a command line.
_GIT_RUNS: Final = re.compile(
    r"(?i)^(?:alias\..*|pager\..*|core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)"
    r"|sequence\.editor|diff\.external|.*\.(?:textconv|clean|smudge|process|cmd|command|driver|helper|program"
    r"|uploadpack|receivepack|vcs|packobjectshook))$"
)


def _judge_git_setting(shell: Shell, setting: Words, node: Node) -> None:
    for pieces in setting:
        head = pieces[0]
        name, _, value = (head or "").partition("=")
        if head is None or (len(pieces) > 1 and not value):
            shell.add("exec.dynamic", node, "changes a setting of git that is not known")
        elif _GIT_RUNS.match(name):
            is_git = name.lower().startswith("alias.") and not value.startswith("!")
            text = ("git " if is_git else "") + value.removeprefix("!")
            run_word(shell, ((text, *pieces[1:]),), frozenset(), f"git's {name} runs a command: ", node)
        elif name.lower() in {"core.hookspath", "include.path", "core.attributesfile"}:
            shell.judge_path(Action.READ, ((value, *pieces[1:]),), "git", node)
            shell.add("exec.dynamic", node, f"git's {name} names files whose commands run")
        elif "proxy" in name.lower():
            network.judge_url(shell, ((value, *pieces[1:]),), "git", node)
        else:
            target = name.partition(".")[2].rpartition(".")[0] if "insteadof" in name.lower() else value
            shell.judge_literals(((target, *pieces[1:]),), "git", node)


def _judge_editor(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge an editor or pager: its own commands are programs too."""
    operands, _ = split_options(arguments, "cSTuUiw")
    if any(
        _EDITOR_COMMAND.match(read_known_text(one) or "?")
        for one in arguments
        if (read_known_text(one) or "-")[0] in "-+"
    ):
        shell.add("exec.dynamic", node, f"{program} runs commands of its own")
    for operand in operands:
        if not (read_known_text(operand) or "").startswith("+"):
            shell.judge_path(Action.READ, operand, program, node)
    return Stream(HOLE, frozenset({"file"}))


_EDITOR_COMMAND: Final = re.compile(r"\+(?!\d*$|/)|-(?:c|S|u|s|es|-cmd|-startuptime|w|W)")


def _judge_make(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge rules on the line; a makefile is like any file that is not in the snippet."""
    for text in find_option_values(arguments, {"--eval", "-E"}):
        shell.add(
            "exec.dynamic",
            node,
            f"{program} reads rules from its line, {read_known_text(text) or 'not known'}"[:80],
        )
    for file in find_option_values(arguments, {"-f", "--file", "--makefile"}):
        shell.judge_path(Action.READ, file, program, node)
        if read_known_text(file) in {"-", "/dev/stdin", "/dev/fd/0", "/dev/fd/63", None}:
            shell.add("exec.dynamic", node, f"{program} runs rules that another command writes")
    for one in arguments:
        shell.run_substitutions(tuple(p for p in one if "$(shell" in (p[0] or "")), program, node)
        shell.judge_literals(one, program, node)
    return UNKNOWN_STREAM


def _judge_enable(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if any(
        (read_known_text(one) or "-f").startswith("-") and "f" in (read_known_text(one) or "f")
        for one in arguments
    ):
        shell.add("exec.native", node, "loads a built-in from a library")
    return NOTHING


def _judge_hook(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge a built-in that takes a command to run later."""
    for given in find_option_values(arguments, {"-C", "-x", "-e"}):
        line = _strip_key(given) if program == "bind" else given
        run_word(shell, line, frozenset(), f"{program} runs a command: ", node)
    for one in arguments:
        shell.run_subscripts(one, node)
        shell.judge_literals(one, program, node)
    if program in {"mapfile", "readarray"}:
        name = next(
            (text for one in reversed(arguments) if (text := read_known_text(one)) and text[0] != "-"),
            "MAPFILE",
        )
        shell.state.variables[name] = HOLE
        if stdin.origin:
            shell.state.origins[name] = stdin.origin
    return NOTHING


def _judge_completion(
    shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    """Judge `compgen`, which lists variables with `-e`, `-v` and `-A export`."""
    given = [read_known_text(one) for one in arguments]
    kinds = [kind for option, kind in pairwise(given) if option == "-A"]
    if {"-e", "-v"} & set(given) or {"arrayvar", "export", "variable"} & set(kinds):
        shell.read_all_variables(program, node)
        return UNKNOWN_STREAM
    return _judge_hook(shell, program, arguments, stdin, node)


# A variable in the argument of `envsubst`: `$HOME`, `${HOME}`.
_NAMED_VARIABLE: Final = re.compile(r"\$\{?(\w+)")


def _judge_envsubst(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge `envsubst`, which writes the variables that a text names, or only those of its argument."""
    texts = [text for one in arguments if (text := read_known_text(one)) is not None and text[:1] != "-"]
    named = [name for text in texts for name in _NAMED_VARIABLE.findall(text)]
    for name in named:
        shell.judge_variable(name, node)
    if not named:
        shell.add("environment.read", node, "envsubst writes each variable that a text names", Verdict.REVIEW)
    return Stream(HOLE, stdin.origin)


def _strip_key(word: Words) -> Words:
    """Return the command in `"key": command`."""
    return tuple(((pieces[0] or "").partition(":")[2].strip(" '\""), *pieces[1:]) for pieces in word)


def _judge_arithmetic(
    shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    for one in arguments:
        shell.run_subscripts(one, node)
    return (
        _judge_other_program(shell, program, arguments, node) if program not in OPERANDS else UNKNOWN_STREAM
    )


def _judge_unknown_program(shell: Shell, head: Words, arguments: list[Words], node: Node) -> None:
    shell.add("command.dynamic", node, "runs a program that is not known")
    _judge_operands_of_unknown(shell, "a program", arguments, node)


def _judge_other_program(shell: Shell, name: str, arguments: list[Words], node: Node) -> Stream:
    if any(mark in name for mark in "*?["):
        shell.add("command.dynamic", node, f"runs a program by a pattern, {name[:60]}")
    elif name.rpartition("/")[2] not in HARMLESS:
        if name.startswith(("/", "~", "../")):
            shell.judge_path(Action.READ, ((name,),), "runs a program:", node)
        line = format_addition("allowed_commands", name.rpartition("/")[2][:60])
        message = f"runs {name[:60]}, which is no program the scanner knows"
        shell.add("command.unknown", node, message, policy_line=line)
    if any(
        (read_known_text(one) or "").lstrip("-") in {"shell-escape", "enable-write18"} for one in arguments
    ):
        shell.add("exec.dynamic", node, f"{name[:60]} runs the commands that a document holds")
    _judge_operands_of_unknown(shell, name.rpartition("/")[2], arguments, node)
    return UNKNOWN_STREAM


def _judge_operands_of_unknown(shell: Shell, who: str, arguments: list[Words], node: Node) -> None:
    """Judge what looks like a path outside as one, whatever the program."""
    for argument in arguments:
        for pieces in argument:
            found = _ABSOLUTE.match(pieces[0] or "")
            if found is not None:
                shell.judge_path(Action.READ, ((found[1], *pieces[1:]),), who, node)
            else:
                shell.judge_literals((pieces,), who, node)


# Programs whose operands need more than a role.
_HANDLERS: Final[dict[str, Handler]] = {
    **interpreters.HANDLERS,
    **directories.HANDLERS,
    **files.HANDLERS,
    "find": _judge_find, "printenv": _judge_printenv,
    "kill": _judge_kill, "read": _judge_read, "printf": _judge_printf, "set": _judge_set,
    "shift": _judge_shift, "history": _judge_history,
    **dict.fromkeys(["vi", "vim", "nvim", "view", "ex", "vimdiff", "nano"], _judge_editor),
    **dict.fromkeys(["less", "more", "man"], _judge_editor),
    **dict.fromkeys(["make", "gmake"], _judge_make),
    "compgen": _judge_completion, "envsubst": _judge_envsubst,
    **dict.fromkeys(["complete", "bind", "fc", "mapfile", "readarray", "hash"], _judge_hook),
    "let": _judge_arithmetic, "enable": _judge_enable,
    "sqlite3": _judge_sqlite, "duckdb": _judge_sqlite, "git": _judge_git, }  # fmt: skip
