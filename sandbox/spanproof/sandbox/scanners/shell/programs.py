"""What one command of a script does: the program is looked up, its operands are held against the boundary.

In: the expanded fields of a command and what it reads. Out: findings, and what the command writes, as far as
that is known. Programs that run others (`sudo`, `xargs`, `bash -c`, `python -c`) hand them on.
"""

# ruff: noqa: ARG001 - handlers of one table share one signature

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, takewhile
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action, Pieces, UseKind
from spanproof.sandbox.scanners.pieces import ENTRY, limit_texts, merge_pieces
from spanproof.sandbox.scanners.policy_lines import format_addition
from spanproof.sandbox.scanners.shell import directories, files, interpreters, network
from spanproof.sandbox.scanners.shell.builtins import BUILTINS
from spanproof.sandbox.scanners.shell.catalogue import (
    COMMAND_OPTIONS,
    COMMAND_VARIABLES,
    DENIED,
    HARMLESS,
    INSTALLERS,
    INTERPRETERS,
    KEEPING,
    LOADING_VARIABLES,
    NETWORK,
    NETWORK_KINDS,
    OPERANDS,
    PROJECT_TOOLS,
    QUERIES,
    SHELLS,
    UNPACKING,
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
from spanproof.sandbox.scanners.shell.own_projects import run_own_files
from spanproof.sandbox.scanners.shell.state import (
    EMPTY,
    HOLE,
    MAX_ALTERNATIVES,
    UNKNOWN_STREAM,
    Stream,
    Words,
    join_words,
    read_known_text,
)
from spanproof.sandbox.scanners.shell.walk import Handler, Shell
from spanproof.sandbox.scanners.sql_connections import Connection, Database

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
    run_own_files(shell, program, arguments, node)
    if program in UNPACKING:
        shell.context.own_files.forget(None)
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
        _judge_denied(shell, program, rule, arguments, node)
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


def _judge_denied(shell: Shell, program: str, rule: str, arguments: list[Words], node: Node) -> None:
    if not _is_query(program, arguments):
        shell.add(rule, node, f"runs {program}", policy_line=format_addition("allowed_commands", program))


def _is_query(program: str, arguments: list[Words]) -> bool:
    """Whether a program only says what is there, or what it would do: `dpkg -l`, `apt-get -s install x`."""
    words = [read_known_text(one) for one in arguments]
    queries = QUERIES.get(program, "").split()
    first = words[0] if words else None
    is_query = first in queries or any(word in queries for word in words if word and word.startswith("-"))
    return is_query and None not in words


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
    if program == "command" and arguments and _LOOKS_UP.fullmatch(read_known_text(arguments[0]) or ""):
        return UNKNOWN_STREAM
    rest = skip_options(arguments, WRAPPER_VALUED.get(program, ""))
    rest = rest[WRAPPER_OPERANDS.get(program, 0) :]
    for one in arguments[: len(arguments) - len(rest)]:
        shell.judge_literals(one, program, node)
    for file in find_option_values(arguments, _FILE_OPTIONS.get(program, ())):
        shell.judge_path(Action.READ, file, program, node)
    while rest and program == "sudo" and "=" in (read_known_text(rest[0]) or ""):
        rest = rest[1:]
    if not rest:
        return stdin
    if program in {"xargs", "parallel"}:
        options = arguments[: len(arguments) - len(rest)]
        mark = _find_mark(options) if program == "xargs" else None
        rest = _add_input(rest, options, mark, stdin)
    return run(shell, rest, stdin, node)


# Options of wrappers whose value is a file.
_FILE_OPTIONS: Final = dict.fromkeys(("xargs", "parallel"), ("-a", "--arg-file", "--joblog"))
# What `xargs` and `parallel` replace by what they read.
_MARKS: Final = frozenset({"{}", "{.}", "%"})
# Options of `xargs` that leave its mark alone, with their values: with any other, input may be added.
_BESIDE_MARK: Final = re.compile(r"-[0rt]+|-P\d+|--(?:null|no-run-if-empty|verbose)|-a.+", re.DOTALL)


def _add_input(command: list[Words], options: list[Words], mark: str | None, stdin: Stream) -> list[Words]:
    """Return the command that `xargs` runs: what it reads takes the place of a mark, or is added."""
    added = tuple(one for pieces in stdin.words for one in _split_into_words(pieces)) or HOLE
    if mark is not None:
        return [_put_in_place(one, mark, added) for one in command]
    if any(read_known_text(one) in _MARKS for one in (*options, *command)):
        return [added if read_known_text(one) in _MARKS else one for one in command]
    return [*command, added]


def _find_mark(options: list[Words]) -> str | None:
    """Return the mark in whose place alone `xargs` puts what it reads; None where it is not sure."""
    mark = None
    texts = iter([read_known_text(one) or "" for one in options])
    for text in texts:
        if text.startswith("-I"):
            mark = text[2:] or next(texts, "")
        elif text in {"-a", "-P"}:
            next(texts, None)
        elif not _BESIDE_MARK.fullmatch(text):
            return None
    return mark or None


def _put_in_place(word: Words, mark: str, added: Words) -> Words:
    """Return a word of a command with what is read in the place of each mark in it."""
    texts: list[Pieces] = []
    for pieces in word:
        for read in added:
            parts = [_replace_mark(piece, mark, read) for piece in pieces]
            texts.append(merge_pieces([*chain.from_iterable(parts)]))
    return limit_texts(texts, MAX_ALTERNATIVES)


def _replace_mark(piece: str | None, mark: str, read: Pieces) -> Pieces:
    if piece is None:
        return (None,)
    parts = piece.split(mark)
    return (parts[0], *(one for part in parts[1:] for one in (*read, part)))


def _judge_env(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Run a command with the variables that `env` sets for it; without a command `env` writes all."""
    rest = skip_options(arguments, WRAPPER_VALUED.get("env", ""))
    options = arguments[: len(arguments) - len(rest)]
    for one in options:
        shell.judge_literals(one, "env", node)
    given: dict[str, Words] = {}
    while rest and "=" in (text := read_known_text(rest[0]) or ""):
        name, _, value = text.partition("=")
        judge_assigned(shell, name, ((value,),), node)
        given[name] = ((value,),)
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


# Variables whose text the shell expands before it shows it.
_PROMPTS: Final = frozenset({"PS0", "PS1", "PS2", "PS3", "PS4"})


def judge_assigned(shell: Shell, name: str, value: Words, node: Node) -> None:
    """Judge what a variable does by its name: it loads a library, runs a command, or is a proxy."""
    if name.startswith("GIT_CONFIG"):
        shell.add("exec.dynamic", node, f"sets {name}, whose settings of git may run commands")
    if name in LOADING_VARIABLES:
        shell.add("environment.write", node, f"sets {name}, which changes how programs load")
    if name in _PROMPTS:
        shell.run_substitutions(value, f"the prompt {name}", node)
    elif name in COMMAND_VARIABLES and value != EMPTY:
        interpreters.run_word(shell, value, frozenset(), f"{name} runs a command: ", node)
    elif name.upper().endswith("_PROXY") and not name.upper().startswith("NO_") and read_known_text(value):
        network.judge_url(shell, value, name, node)
    shell.run_subscripts(value, node)


def _split_into_words(pieces: Pieces) -> Sequence[Pieces]:
    if len(pieces) == 1 and pieces[0] is not None:
        return limit_texts(((line,) for line in pieces[0].split()), MAX_ALTERNATIVES)
    return [pieces]


# What `find` runs for each file it finds, and where it writes a list of them.
_FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITES: Final = frozenset({"-fprint", "-fprintf", "-fls"})
_FIND_ENDS: Final = frozenset({";", "+", "\\;"})


def _judge_find(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    named = list(takewhile(_is_root_of_find, arguments))
    roots = named or [((".",),)]
    texts = [read_known_text(argument) for argument in arguments]
    for root in roots:
        if "-delete" in texts:
            # Deleting what `find .` finds leaves the directory itself.
            shell.judge_path(Action.DELETE, tuple(map(_add_entry, root)), program, node)
        else:
            shell.judge_path(Action.READ, root, program, node)
    found = tuple(_name_found(pieces) for root in named for pieces in root) or ((ENTRY,),)
    _run_actions_of_find(shell, arguments, texts, found, node)
    return Stream(tuple(map(_name_found, roots[0])))


def _run_actions_of_find(
    shell: Shell, arguments: list[Words], texts: list[str | None], found: Words, node: Node
) -> None:
    """Run the commands that `find` gets, on what it finds, and judge the files that it writes.

    Args:
        shell: what is read.
        arguments: of `find`.
        texts: of the arguments, where they are known.
        found: the paths that take the place of `{}`.
        node: the command.
    """
    for start, flag in enumerate(texts, start=1):
        if flag in _FIND_RUNS:
            stop = next((at for at in range(start, len(texts)) if texts[at] in _FIND_ENDS), len(texts))
            command = [found if text == "{}" else one for one, text in zip(arguments, texts, strict=True)]
            if stop > start:
                run(shell, command[start:stop], UNKNOWN_STREAM, node)
        elif flag in _FIND_WRITES and start < len(arguments):
            shell.judge_path(Action.WRITE, arguments[start], "find", node)


def _is_root_of_find(argument: Words) -> bool:
    text = read_known_text(argument)
    return text is None or not (text.startswith("-") or text in {"(", "!", "\\("})


def _add_entry(pieces: Pieces) -> Pieces:
    last = pieces[-1]
    return pieces if last is None else (*pieces[:-1], f"{last}/{ENTRY}")


def _name_found(pieces: Pieces) -> Pieces:
    """Return the path of a file that `find` finds below a directory."""
    return merge_pieces((*pieces, "/" + ENTRY))


def _judge_sqlite(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    arguments = drop_text_options(program, arguments)
    operands, _ = split_options(arguments, "c" if program == "duckdb" else "")
    if operands:
        given = [pieces for pieces in operands[0] if pieces not in {("",), (":memory:",)}]
    else:
        given = []
    if given:
        shell.judge_path(Action.WRITE, tuple(given), program, node)
        database = Connection(Database.FILE, file=read_known_text(tuple(given)) or "")
    else:
        database = Connection(Database.MEMORY)
    sent = [*operands[1:], *find_option_values(arguments, {"-c", "-s", "-cmd"})]
    send_statements(shell, program, sent or [stdin.words], database, node)
    return UNKNOWN_STREAM


def _judge_git(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, _ = split_options(arguments, "Cc")
    verb = read_known_text(operands[0]) if operands else None
    for setting in _list_git_settings(verb, arguments, operands):
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
    _judge_git_addresses(shell, verb, operands[1:], node)
    return UNKNOWN_STREAM


# Verbs of git that may name an address, and those that reach a host in any case.
_ADDRESSED: Final = frozenset({"clone", "fetch", "pull", "push", "ls-remote", "submodule", "remote"})
_REACHING: Final = frozenset({"fetch", "pull", "push", "clone"})


def _judge_git_addresses(shell: Shell, verb: str | None, operands: Sequence[Words], node: Node) -> None:
    if verb not in _ADDRESSED:
        return
    texts = [read_known_text(one) or "" for one in operands]
    urls = [one for one, text in zip(operands, texts, strict=True) if "://" in text or "@" in text]
    for url in urls:
        network.judge_url(shell, url, "git", node)
    if not urls and verb in _REACHING:
        shell.add("network.dynamic", node, f"git {verb} reaches a host that is not known")


def _list_git_settings(verb: str | None, arguments: list[Words], operands: Sequence[Words]) -> list[Words]:
    """Return the settings that a command of git makes, each as `name=value`."""
    settings = find_option_values(arguments[: _find_argument(arguments, verb)], {"-c", "--config-env"})
    if verb == "config" and len(operands) > 2:
        settings.append(join_words([operands[-2], (("=",),), operands[-1]]))
    if verb == "clone":
        settings += find_option_values(arguments, {"-c", "--config"})
    return settings


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
            if "insteadof" in name.lower():
                target = name.partition(".")[2].rpartition(".")[0]
            else:
                target = value
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


def _judge_arithmetic(
    shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    for one in arguments:
        shell.run_subscripts(one, node)
    if program not in OPERANDS:
        return _judge_other_program(shell, program, arguments, node)
    return UNKNOWN_STREAM


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
    if name not in KEEPING:
        shell.context.own_files.forget(None)
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
    **BUILTINS,
    "env": _judge_env,
    "find": _judge_find,
    **dict.fromkeys(["vi", "vim", "nvim", "view", "ex", "vimdiff", "nano"], _judge_editor),
    **dict.fromkeys(["less", "more", "man"], _judge_editor),
    **dict.fromkeys(["make", "gmake"], _judge_make),
    "let": _judge_arithmetic,
    "sqlite3": _judge_sqlite, "duckdb": _judge_sqlite, "git": _judge_git, }  # fmt: skip
