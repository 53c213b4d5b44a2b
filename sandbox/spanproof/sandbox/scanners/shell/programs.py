"""What one command of a script does: the program is looked up, its operands are held against the boundary.

In: the expanded fields of a command and what it reads. Out: findings, and what the command writes, as far as
that is known. Programs that run others (`sudo`, `xargs`, `bash -c`, `python -c`) hand them on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.context import MAX_NESTING
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.shell import filters, network
from spanproof.sandbox.scanners.shell.catalogue import (
    DENIED,
    HARMLESS_UNKNOWN,
    INSTALLERS,
    INTERPRETERS,
    NETWORK,
    OPERANDS,
    SHELLS,
    VALUED,
    WRAPPER_OPERANDS,
    WRAPPER_VALUED,
    WRAPPERS,
)
from spanproof.sandbox.scanners.shell.state import (
    ENTRY,
    HOLE,
    NOTHING,
    OWN_JOB,
    UNKNOWN_STREAM,
    Stream,
    Words,
    known,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from spanproof.sandbox.scanners.shell.walk import Shell

_FILE: Final = frozenset({"file"})
_ABSOLUTE = re.compile(r"^(?:--?[\w-]+=)?((?:/|~/|\.\./)[\w.+@~/*?\[\]{}-]*)$")
_DOWNLOADED = frozenset({"network"})
_ENCODED = frozenset({"encoded"})
_TEXT_THAT_REACHES = re.compile(
    r"(?i)socket|fsockopen|TCPSocket|io\.popen|os\.execute|ProcessBuilder|Net::|LWP|HTTP::|open-uri|Invoke-|IEX"
)
_AWK_REACHES = re.compile(r"system\s*\(|\|\s*getline|getline\s*<|\|&|print\s*>|/inet/|\|\s*\"")
_SED_REACHES = re.compile(r"(?:^|[;}\d$/])\s*[ewWrR]\s+\S|/[gip\d]*e[gip]*\s*$")

Handler = Callable[["Shell", str, list[Words], Stream, "Node"], Stream]


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
    if name in shell.state.functions:
        return shell.call_function(name, arguments, stdin)
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
        return _shell(shell, program, arguments, stdin, node)
    if program in INTERPRETERS or re.match(r"^python\d(?:\.\d+)?$", program):
        return _interpreter(shell, program, arguments, stdin, node)
    if program in NETWORK:
        return network.reach(shell, program, arguments, stdin, node)
    if program in INSTALLERS:
        return _installer(shell, program, arguments, node)
    if program in WRAPPERS:
        return _wrapper(shell, program, arguments, stdin, node)
    role = OPERANDS.get(program)
    if role is not None:
        return _operands(shell, program, role, arguments, stdin, node)
    return _other(shell, name, arguments, node)


def _operands(
    shell: Shell, program: str, role: str, arguments: list[Words], stdin: Stream, node: Node
) -> Stream:
    operands, options = split_options(arguments, VALUED.get(program, ""))
    if role == "script":
        operands = _program_text(shell, program, operands, options, node)
        role = "write" if program == "sed" and any(option[:2] in {"-i", "--in"} for option in options) else "read"
    _judge_role(shell, program, role, operands, node)
    _judge_option_paths(shell, program, arguments, node)
    written = filters.written(program, arguments, operands, stdin)
    if written is not None:
        return written
    reads_files = role == "read" and bool(operands)
    return Stream(HOLE, stdin.origin | _FILE if reads_files else stdin.origin)


def _judge_role(shell: Shell, program: str, role: str, operands: list[Words], node: Node) -> None:
    if role in {"read", "write", "delete"}:
        for operand in operands:
            shell.judge_path(Action(role), operand, program, node)
    elif role == "permission":
        for operand in operands[1:]:
            shell.judge_path(Action.PERMISSION, operand, program, node)
    elif role == "archive":
        for operand in operands:
            shell.judge_path(Action.READ, operand, program, node)
    elif role in {"copy", "move", "link"} and operands:
        source = Action.DELETE if role == "move" else Action.READ
        for operand in operands[:-1]:
            shell.judge_path(source, operand, program, node)
        shell.judge_path(Action.WRITE, operands[-1], program, node)


def _judge_option_paths(shell: Shell, program: str, arguments: list[Words], node: Node) -> None:
    """Paths inside options: `-f/etc/passwd`, `--file=/etc/passwd`, `-o /out`."""
    previous = ""
    for argument in arguments:
        text = known(argument)
        if text is None:
            previous = ""
            continue
        value = text.partition("=")[2] if text.startswith("--") else text[2:] if text.startswith("-") else ""
        if value.startswith(("/", "~", "../")):
            shell.judge_path(Action.READ, ((value,),), program, node)
        if (previous in {"-o", "--output", "-t", "--target-directory"} and program in _WRITES_BY_OPTION) or (
            previous in {"-f", "--file"} and program in {"grep", "awk", "sed", "file", "jq", "gawk", "egrep"}
        ):
            action = Action.READ if previous in {"-f", "--file"} else Action.WRITE
            shell.judge_path(action, argument, program, node)
        previous = text


_WRITES_BY_OPTION = frozenset({"sort", "cp", "mv", "ln", "install", "tree", "shuf", "iconv", "gcc", "cc", "zip", "uniq"})


def _program_text(
    shell: Shell, program: str, operands: list[Words], options: list[str], node: Node
) -> list[Words]:
    """The script of awk, sed, grep or jq is no path, but it may reach out."""
    if any(option in {"-e", "--expression", "-f", "--file", "--regexp"} for option in options):
        return operands
    if not operands:
        return operands
    text = known(operands[0]) or ""
    if program.endswith("awk") and _AWK_REACHES.search(text):
        _awk(shell, text, node)
    if program == "sed" and _SED_REACHES.search(text):
        shell.add("exec.dynamic", node, "sed runs commands or touches files from its script")
    return operands[1:]


def _awk(shell: Shell, text: str, node: Node) -> None:
    for found in re.finditer(r"system\s*\(\s*\"([^\"]{0,400})\"|\"([^\"]{0,400})\"\s*\|\s*getline", text):
        run_text(shell, found[1] or found[2], "awk runs a command that ", node)
    for found in re.finditer(r"(?:getline[^<]{0,40}<|print[^>]{0,80}>)\s*\"([^\"]{1,400})\"", text):
        action = Action.READ if "getline" in found[0] else Action.WRITE
        shell.judge_path(action, ((found[1],),), "awk", node)
    if re.search(r"system\s*\(\s*[^\"\s]", text) or re.search(r"/inet/", text):
        shell.add("exec.dynamic", node, "awk runs commands that are not known")


def split_options(arguments: Sequence[Words], valued: str) -> tuple[list[Words], list[str]]:
    """Operands and options of a command; `valued` are the short options that take a value."""
    operands: list[Words] = []
    options: list[str] = []
    only_operands = False
    skip = False
    for argument in arguments:
        text = known(argument)
        if skip:
            skip = False
            continue
        if only_operands or text is None or not text.startswith("-") or text == "-":
            if text != "-":
                operands.append(argument)
        elif text == "--":
            only_operands = True
        else:
            options.append(text)
            skip = not text.startswith("--") and text[-1] in valued and (len(text) == 2 or text[1:-1].isalpha())
    return operands, options


def _shell(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, options = split_options(arguments, "O")
    if any(re.match(r"^-[a-zA-Z]*c[a-zA-Z]*$", option) for option in options):
        if operands:
            _run_word(shell, operands[0], stdin.origin, f"{program} -c runs a command that ", node)
        return UNKNOWN_STREAM
    if operands:
        shell.judge_path(Action.READ, operands[0], program, node)
        if known(operands[0]) == "/dev/fd/63":
            _run_stream(shell, stdin, f"{program} runs a script that ", node)
        else:
            shell.add("exec.dynamic", node, f"{program} runs a script that is not in the snippet")
    elif "-i" in options:
        shell.add("exec.dynamic", node, f"starts an interactive {program}")
    else:
        _run_stream(shell, stdin, f"{program} runs a script that ", node)
    return UNKNOWN_STREAM


def _run_stream(shell: Shell, stdin: Stream, origin: str, node: Node) -> None:
    _run_word(shell, stdin.words, stdin.origin, origin, node)


def _run_word(shell: Shell, word: Words, taint: frozenset[str], origin: str, node: Node) -> None:
    for pieces in word:
        if all(piece is None for piece in pieces):
            _unknown_code(shell, taint, node)
            continue
        text = "".join("$__unknown" if piece is None else piece for piece in pieces)
        run_text(shell, text, origin, node)


def _unknown_code(shell: Shell, taint: frozenset[str], node: Node) -> None:
    if taint & _DOWNLOADED:
        shell.add("exec.download", node, "runs what was just downloaded")
    elif taint & _ENCODED:
        shell.add("exec.payload", node, "runs what was just decoded")
    else:
        shell.add("exec.dynamic", node, "runs commands that are not known")


def run_text(shell: Shell, text: str, origin: str, node: Node) -> None:
    """Scan a command line inside this one, with the names that are known here."""
    from spanproof.sandbox.scanners.shell.walk import Shell as Nested

    if shell.context.depth >= MAX_NESTING:
        shell.add("exec.payload", node, "hides commands in too many layers")
        return
    inner = Nested(shell.context.nested(shell.place(node), shell.context.origin + origin))
    inner.state.variables.update(shell.state.variables)
    inner.read(text)


def _eval(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    from spanproof.sandbox.scanners.shell.state import joined

    parts = [part for argument in arguments for part in (argument, ((" ",),))]
    if parts:
        _run_word(shell, joined(parts[:-1]), stdin.origin, "eval runs a command that ", node)
    return UNKNOWN_STREAM


def _interpreter(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, options = split_options(arguments, "mWX")
    flags = {option for option in options if option in {"-c", "-e", "-E", "-r", "--eval", "-p", "--print", "-pe", "-ne"}}
    if "-m" in options:
        return _python_module(shell, arguments, node)
    if flags and operands:
        _inline_code(shell, program, operands[0], stdin.origin, node)
        for operand in operands[1:]:
            shell.judge_path(Action.READ, operand, program, node)
    elif operands:
        shell.judge_path(Action.READ, operands[0], program, node)
        shell.add("exec.dynamic", node, f"{program} runs a script that is not in the snippet")
    elif not options:
        _inline_code(shell, program, stdin.words, stdin.origin, node)
    return UNKNOWN_STREAM


def _python_module(shell: Shell, arguments: list[Words], node: Node) -> Stream:
    names = [known(argument) or "" for argument in arguments]
    module = names[names.index("-m") + 1] if names.index("-m") + 1 < len(names) else ""
    if module in {"http.server", "SimpleHTTPServer"}:
        shell.add("network.listen", node, f"python -m {module} serves files")
    elif module == "pip":
        shell.add("command.install", node, "pip installs packages")
    elif module not in {"json.tool", "this", "calendar", "timeit", "unittest", "pytest", "venv", "tabnanny", "ast"}:
        shell.add("exec.dynamic", node, f"python runs the module {module or 'that is not known'}")
    return UNKNOWN_STREAM


def _inline_code(shell: Shell, program: str, word: Words, taint: frozenset[str], node: Node) -> None:
    for pieces in word:
        if all(piece is None for piece in pieces):
            _unknown_code(shell, taint, node)
            continue
        text = "".join("__unknown" if piece is None else piece for piece in pieces)
        context = shell.context.nested(shell.place(node), f"{program} runs code that ")
        if program.startswith(("python", "pypy", "ipython")):
            from spanproof.sandbox.scanners.python import scan_nested as scan_python

            scan_python(context, text)
        elif program in {"node", "nodejs", "deno", "bun"}:
            from spanproof.sandbox.scanners.javascript import scan_nested as scan_javascript

            scan_javascript(context, text)
        elif _TEXT_THAT_REACHES.search(text):
            shell.add("process.shell", node, f"{program} runs code that reaches the network or a shell")
        else:
            shell.add("exec.dynamic", node, f"{program} runs code no scanner reads")


def _installer(shell: Shell, program: str, arguments: list[Words], node: Node) -> Stream:
    verbs = INSTALLERS[program].split()
    first = next((text for one in arguments if (text := known(one)) and not text.startswith("-")), "")
    if not verbs or first in verbs:
        shell.add("command.install", node, f"{program} fetches and installs packages")
    return UNKNOWN_STREAM


def _wrapper(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    if program in {"sudo", "doas"}:
        shell.add("privilege.change", node, f"{program} runs a command as another user")
    if program == "env" and not arguments:
        crossing = shell.context.boundary.environment("")
        shell.context.crossed("shell", crossing, shell.place(node), "env:")
        return Stream(HOLE, frozenset({"environment"}))
    rest = _after_options(arguments, WRAPPER_VALUED.get(program, ""))
    rest = rest[WRAPPER_OPERANDS.get(program, 0) :]
    while rest and (text := known(rest[0])) is not None and "=" in text and program in {"env", "sudo"}:
        rest = rest[1:]
    if not rest:
        return stdin
    if program in {"xargs", "parallel"}:
        # What xargs adds comes from its input; a replaced mark stands for the same.
        added = [one for pieces in stdin.words for one in _lines(pieces)]
        marks = {"{}", "{.}", "%"}
        rest = [tuple(added) if known(one) in marks and added else HOLE if known(one) in marks else one for one in rest]
        if not any(known(one) in marks for one in arguments):
            rest = [*rest, tuple(added) or HOLE]
    return run(shell, rest, stdin, node)


def _lines(pieces: tuple[str | None, ...]) -> list[tuple[str | None, ...]]:
    if len(pieces) == 1 and pieces[0] is not None:
        return [(line,) for line in pieces[0].split()][:8]
    return [pieces]


def _after_options(arguments: list[Words], valued: str) -> list[Words]:
    index = 0
    while index < len(arguments):
        text = known(arguments[index])
        if text is None or not text.startswith("-") or text == "-":
            break
        index += 2 if len(text) == 2 and text[1] in valued else 1
        if text == "--":
            break
    return arguments[index:]


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
        below = tuple((*pieces[:-1], (pieces[-1] or "") + "/" + ENTRY) if pieces[-1] is not None else pieces for pieces in root)
        shell.judge_path(action, below if action is Action.DELETE else root, program, node)
    for flag in ("-exec", "-execdir", "-ok", "-okdir"):
        if flag in texts:
            start = texts.index(flag) + 1
            stop = next((at for at in range(start, len(texts)) if texts[at] in {";", "+", "\\;"}), len(texts))
            found = tuple(((*pieces, "/" + ENTRY) if pieces != (".",) else ("./" + ENTRY,)) for root in roots for pieces in root)
            rest = [(found or ((ENTRY,),)) if known(one) == "{}" else one for one in arguments[start:stop]]
            if rest:
                run(shell, [tuple(_merged(p) for p in one) for one in rest], UNKNOWN_STREAM, node)
    for flag in ("-fprint", "-fprintf", "-fls"):
        if flag in texts and texts.index(flag) + 1 < len(arguments):
            shell.judge_path(Action.WRITE, arguments[texts.index(flag) + 1], program, node)
    return Stream((("./" + ENTRY,),)) if not roots else Stream(tuple(_merged((*p, "/" + ENTRY)) for p in roots[0]))


def _merged(pieces: tuple[str | None, ...]) -> tuple[str | None, ...]:
    from spanproof.sandbox.scanners.shell.state import merged

    return merged(list(pieces))


def _dd(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments:
        for pieces in argument:
            head = pieces[0] or ""
            for prefix, action in (("if=", Action.READ), ("of=", Action.WRITE)):
                if head.startswith(prefix):
                    shell.judge_path(action, ((head[3:], *pieces[1:]),), program, node)
    return Stream(HOLE, _FILE)


def _tar(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    texts = [known(argument) for argument in arguments]
    first = texts[0] or "" if texts else ""
    flags = "".join(text for text in texts if text and text.startswith("-") and not text.startswith("--")) + first
    creates = "c" in flags or "--create" in texts
    for index, argument in enumerate(arguments):
        text = texts[index]
        if text is not None and text.startswith("--checkpoint-action"):
            run_text(shell, text.partition("exec=")[2], "tar runs a command that ", node)
        if (text is not None and text.startswith("-")) or index == 0:
            continue
        before = texts[index - 1] or ""
        is_archive = before == "--file" or (before.rstrip("-").endswith("f") and (before.startswith("-") or index == 1))
        is_target = before in {"-C", "--directory"}
        action = Action.WRITE if (is_archive and creates) or (is_target and not creates) else Action.READ
        shell.judge_path(action, argument, program, node)
    return Stream(HOLE, _FILE)


def _kill(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    operands, options = split_options(arguments, "sn")
    if "-l" in options or "-L" in options:
        return UNKNOWN_STREAM
    if all((known(one) or "").startswith(("%", OWN_JOB)) for one in operands) and operands:
        return NOTHING
    shell.add("process.signal", node, "kill signals processes")
    return NOTHING


def _chown(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("privilege.change", node, f"runs {program}")
    for operand in split_options(arguments, "")[0][1:]:
        shell.judge_path(Action.PERMISSION, operand, program, node)
    return NOTHING


def _source(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments[:1]:
        shell.judge_path(Action.READ, argument, program, node)
        if known(argument) == "/dev/fd/63":
            shell.add("exec.download" if "network" in stdin.origin else "exec.dynamic", node, "runs what another command writes")
        else:
            shell.add("exec.dynamic", node, f"{program} runs a script that is not in the snippet")
    return NOTHING


def _read(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    names, _ = split_options(arguments, "pdnNtuia")
    lines = tuple(dict.fromkeys(line for pieces in stdin.words for line in _whole_lines(pieces)))[:8]
    for index, word in enumerate(names):
        name = known(word)
        if name is not None:
            shell.state.variables[name] = lines if len(names) == 1 and index == 0 and lines else HOLE
            if stdin.origin:
                shell.state.origins[name] = stdin.origin
    return NOTHING


def _whole_lines(pieces: tuple[str | None, ...]) -> list[tuple[str | None, ...]]:
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


def _trap(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    text = known(arguments[0]) if arguments else None
    if text and not text.startswith("-") and len(arguments) > 1:
        run_text(shell, text, "a trap runs a command that ", node)
    return NOTHING


def _history(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("process.inspect", node, "reads or clears the shell's history")
    return NOTHING


def _sqlite(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    from spanproof.sandbox.scanners.sql import scan_functions

    operands, _ = split_options(arguments, "")
    if operands and known(operands[0]) != ":memory:":
        shell.judge_path(Action.WRITE, operands[0], program, node)
    for operand in [*operands[1:], stdin.words]:
        text = known(operand)
        if text is not None:
            scan_functions(shell.context.nested(shell.place(node), f"{program} runs a statement that "), text)
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
    elif name.rpartition("/")[2] not in HARMLESS_UNKNOWN:
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


def _alias(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    for argument in arguments:
        text = known(argument) or ""
        name, equals, value = text.partition("=")
        if equals and value:
            run_text(shell, value, f"the alias {name} runs a command that ", node)
    return NOTHING


def _job(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    shell.add("command.unknown", node, f"{program} starts work in the background", Verdict.REVIEW)
    return NOTHING


_HANDLERS: Final[dict[str, Handler]] = {
    "eval": _eval, "find": _find, "dd": _dd, "tar": _tar, "kill": _kill, "chown": _chown, "chgrp": _chown,
    "source": _source, ".": _source, "read": _read, "set": _set, "trap": _trap, "history": _history,
    "sqlite3": _sqlite, "git": _git, "alias": _alias, "nohup-job": _job,
}  # fmt: skip
"""Programs whose operands need more than a role."""
