"""Programs that reach the network: where to, with what, and where the answer goes.

In: a program and its expanded operands. Out: findings, and a stream that remembers it came from outside.
"""

# ruff: noqa: ARG001 - judges of one table share one signature

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from tree_sitter import Node

from spanproof.sandbox.scanners.boundary import Action, find_port
from spanproof.sandbox.scanners.shell.catalogue import FETCH_OPTIONS, NETWORK_KINDS, split_options
from spanproof.sandbox.scanners.shell.state import EMPTY, HOLE, Stream, Words, read_known_text
from spanproof.sandbox.scanners.shell.walk import Shell
from spanproof.sandbox.scanners.sql_connections import Connection, Database, parse_connection_url
from spanproof.sandbox.words import split_words

_ANSWER: Final = Stream(HOLE, frozenset({"network"}))
# The part before the URL of a package: an option, a name and `@`, a version control system.
_SOURCE_PREFIX: Final = re.compile(
    r"^(?:-{1,2}[a-z-]{1,40}=)?(?:[\w.\[\],-]{1,80} ?@ ?)?(?:(?:git|hg|svn|bzr)\+)?"
)

_SWITCHES_OF_CURL: Final = frozenset("OisSLkfvIgG#JaP")
# Options that take no value.
_SWITCHES_OF_WGET: Final = split_words("-q -nc -c -r -N -nv -S -b -np -k -p -m -d")


def reach(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> Stream:
    """Judge a program that reaches the network."""
    kind = NETWORK_KINDS.get(program, "")
    judge = _PROGRAMS.get(program) or _KINDS.get(kind, _check_hosts)
    judge(shell, program, arguments, stdin, node)
    return _ANSWER


def _check_hosts(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    """Judge the operands as hosts, but for a number behind the second: a port, or a count."""
    hosts = _select_operands(arguments, "cCiIntTwWpsSlQ")
    for index, host in enumerate(hosts):
        if index < 2 or not (read_known_text(host) or "").isdigit():
            _judge_host(shell, host, program, node)
    if not hosts and program not in {"ping", "dig", "host"}:
        shell.add("network.dynamic", node, f"{program} reaches a host that is not known")


def _check_service(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    shell.add("network.host", node, f"{program} reaches a service the policy does not name")


def _check_logger(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    for host in find_option_values(arguments, {"-n", "--server"}):
        _judge_host(shell, host, program, node)


def judge_url(shell: Shell, word: Words, who: str, node: Node) -> None:
    """Hold a URL, in each of its alternatives, against the boundary."""
    for pieces in word:
        text = pieces[0] or ""
        if len(pieces) == 1 and "@" in text and "://" not in text:
            pieces = (text.partition("@")[2].partition(":")[0],)
        shell.crossed(shell.context.boundary.url(pieces), who, node)


def judge_sources(shell: Shell, program: str, arguments: list[Words], node: Node) -> None:
    """Judge packages by URL, and indexes named on the line, by the host they name."""
    for argument in arguments:
        text = read_known_text(argument)
        if text is not None and "://" in text:
            judge_url(shell, ((_SOURCE_PREFIX.sub("", text),),), program, node)


def _judge_fetch(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    option = ""
    urls = 0
    for argument in arguments:
        text = read_known_text(argument)
        if option:
            urls += option == "--url"
            _judge_option(shell, program, option, argument, node)
            option = ""
        elif text is not None and text.startswith("-") and text != "-":
            option = _read_option(shell, program, text, node)
        else:
            judge_url(shell, argument, program, node)
            urls += 1
    if not urls and not any(read_known_text(one) in {"--version", "--help", "-V", "-h"} for one in arguments):
        shell.add("network.dynamic", node, f"{program} reaches a host that is not known")


def _read_option(shell: Shell, program: str, text: str, node: Node) -> str:
    """Return the option whose value is the next word, or nothing; a value in the word is judged here."""
    if text.startswith("--"):
        name, equals, value = text.partition("=")
        if equals:
            _judge_option(shell, program, name, ((value,),), node)
        return "" if equals or name not in FETCH_OPTIONS else name
    if program == "curl" and text[-1:] in _SWITCHES_OF_CURL:
        return ""
    if program == "wget" and text in _SWITCHES_OF_WGET:
        return ""
    if len(text) > 2 and text[:2] in {"-o", "-O", "-T", "-d", "-F", "-x"} and not text[1:].isalpha():
        _judge_option(shell, program, text[:2], ((text[2:],),), node)
        return ""
    return "-" + text[-1] if "-" + text[-1] in FETCH_OPTIONS else ""


def _judge_option(shell: Shell, program: str, option: str, value: Words, node: Node) -> None:
    """Judge the value of one option: a path, data to send, a proxy, a URL, or nothing that reaches out."""
    role = FETCH_OPTIONS.get(option)
    if role == "data":
        _judge_data(shell, program, value, node)
    elif role == "url":
        judge_url(shell, value, program, node)
    elif role == "route":
        for pieces in value:
            end = (pieces[-1] or "").split(":")
            is_pair = option == "--connect-to" and len(end) > 1
            host, port = (end[-2], end[-1]) if is_pair else (end[-1], "")
            number = int(port) if port.isdecimal() else None
            _judge_host(shell, ((host or None, ),), program, node, number)  # fmt: skip
    elif role in {"read", "write"}:
        shell.judge_path(Action(role), value, program, node)
    elif option not in {"-e", "--referer"}:
        shell.judge_literals(value, program, node)


def _judge_data(shell: Shell, program: str, argument: Words, node: Node) -> None:
    """Judge `@file` and `name=@file`, which send a file."""
    for pieces in argument:
        head = pieces[0] or ""
        found = re.match(r"^(?:[\w.\[\]-]*+=)?[@<](.*)$", head, re.DOTALL)
        if found is not None and found[1] != "-":
            rest = pieces[1:]
            path = (found[1], *rest) if found[1] else rest or (None,)
            shell.judge_path(Action.READ, (path,), program, node)
            shell.add("flow.file-to-network", node, f"{program} sends a file")


def _select_operands(arguments: list[Words], valued: str) -> list[Words]:
    return split_options(arguments, valued)[0]


def _judge_host(shell: Shell, word: Words, who: str, node: Node, port: int | None = None) -> None:
    for pieces in word:
        if pieces[0] is not None:
            pieces = (pieces[0].rpartition("@")[2], *pieces[1:])
        shell.crossed(shell.context.boundary.host_in_pieces(pieces, port), who, node)


def _check_socat(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    for argument in arguments:
        text = read_known_text(argument) or ""
        if re.match(r"(?i)^(?:exec|system):", text):
            shell.add("process.shell", node, "socat connects a program to another end")
        if re.match(r"(?i)^(?:tcp|udp|sctp|openssl)\w*-l", text):
            shell.add("network.listen", node, "socat listens")
        target = re.match(r"(?i)^(?:tcp|udp|openssl)[46]?(?:-connect)?:([^:]+):(\d+)", text)
        if target is not None:
            _judge_host(shell, ((target[1],),), program, node, int(target[2]))


def _judge_netcat(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    operands, options = split_options(arguments, "pwsqiIoOxXTecg")
    flags = "".join(option[1:] for option in options if not option.startswith("--"))
    texts = [read_known_text(argument) or "" for argument in arguments]
    if "e" in flags or "c" in flags or any(text in {"--exec", "--sh-exec"} for text in texts):
        shell.add("process.shell", node, f"{program} connects a program to the network")
    if "l" in flags or "--listen" in texts:
        shell.add("network.listen", node, f"{program} listens")
        return
    if operands:
        port = read_known_text(operands[1]) if len(operands) > 1 else None
        _judge_host(shell, operands[0], program, node, find_port(port or ""))
    else:
        shell.add("network.dynamic", node, f"{program} reaches a host that is not known")


_RSYNC_FILES: Final = frozenset({"--files-from", "--exclude-from", "--include-from", "--password-file"})


# Options of programs that log in on a host, or copy from and to one, that take a value.
_VALUED_OF_COPIES: Final = "ipPFoclLRDbeEmJSWw"


def _check_login(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    for operand in _select_operands(arguments, _VALUED_OF_COPIES)[:1]:
        _judge_host(shell, operand, program, node)


def _judge_remote_copy(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    operands = _select_operands(arguments, _VALUED_OF_COPIES)
    for file in find_option_values(arguments, _RSYNC_FILES):
        shell.judge_path(Action.READ, file, program, node)
    for index, operand in enumerate(operands):
        text = read_known_text(operand)
        remote = text is not None and re.match(r"^(?:rsync://)?(?:[^@/:]+@)?([^/:@]+):", text)
        if remote:
            _judge_host(shell, ((remote[1],),), program, node)
        else:
            action = Action.WRITE if index == len(operands) - 1 else Action.READ
            shell.judge_path(action, operand, program, node)


def _judge_openssl(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    texts = [read_known_text(argument) or "" for argument in arguments]
    if texts[:1] == ["s_client"] and "-connect" in texts:
        target = texts[texts.index("-connect") + 1 : texts.index("-connect") + 2]
        for one in target:
            _judge_host(shell, ((one.partition(":")[0],),), "openssl", node)
    elif texts[:1] == ["s_server"]:
        shell.add("network.listen", node, "openssl listens")
    for option, action in (("-in", Action.READ), ("-out", Action.WRITE), ("-inkey", Action.READ)):
        if option in texts and texts.index(option) + 1 < len(arguments):
            shell.judge_path(action, arguments[texts.index(option) + 1], "openssl", node)


def _judge_database(shell: Shell, program: str, arguments: list[Words], stdin: Stream, node: Node) -> None:
    urls = [one for one in arguments if "://" in (read_known_text(one) or "")]
    hosts = find_option_values(arguments, {"-h", "--host"})
    if urls and not hosts:
        judge_url(shell, urls[0], program, node)
    else:
        _judge_host(shell, hosts[0] if hosts else (("localhost",),), program, node)
    options = _STATEMENT_OPTIONS.get(program)
    if options is None:
        return
    sent = find_option_values(arguments, options)
    for file in find_option_values(arguments, {"-f", "--file"}):
        shell.judge_path(Action.READ, file, program, node)
        sent.append(HOLE)
    if urls:
        connection = parse_connection_url(read_known_text(urls[0]) or "")
    else:
        connection = _build_connection(program, arguments, hosts)
    send_statements(shell, program, sent or [stdin.words], connection, node)


_STATEMENT_OPTIONS: Final = {
    "psql": {"-c", "--command"}, "mysql": {"-e", "--execute"}, "mariadb": {"-e", "--execute"},
}  # fmt: skip


def find_option_values(arguments: list[Words], options: Collection[str]) -> list[Words]:
    """Return the values of options: the next word, what follows `=`, or the rest of the word."""
    found: list[Words] = []
    takes = False
    for argument in arguments:
        head = argument[0][0] or ""
        if takes:
            found.append(argument)
        takes = not takes and head in options and len(argument[0]) == 1
        name = next((one for one in options if head.startswith(one) and head != one), None)
        if name is not None and (head[len(name)] == "=" or not name.startswith("--")):
            start = len(name) + (head[len(name)] == "=")
            found.append(tuple(((pieces[0] or "")[start:], *pieces[1:]) for pieces in argument))
    return found


def _build_connection(program: str, arguments: list[Words], hosts: list[Words]) -> Connection:
    """Return the server and the database that a program's options name."""
    bases = find_option_values(arguments, {"-d", "--dbname"} if program == "psql" else {"-D", "--database"})
    operands, _ = split_options(arguments, "hdUpPceDfu")
    base = next(iter((*bases, *operands)), EMPTY)
    host = read_known_text(hosts[0]) if hosts else "localhost"
    return Connection(Database.SERVER, host or "", read_known_text(base) or "")


def send_statements(
    shell: Shell, program: str, sent: list[Words], connection: Connection, node: Node
) -> None:
    """Judge the statements that a database's program is given."""
    for word in sent:
        for pieces in word:
            shell.run_sql(pieces, program, node, connection)


_Judge = Callable[[Shell, str, list[Words], Stream, Node], None]

# How programs and kinds of programs are judged; any other by its hosts.
_PROGRAMS: Final[dict[str, _Judge]] = {
    **dict.fromkeys(("nc", "ncat", "netcat"), _judge_netcat),
    "socat": _check_socat,
    **dict.fromkeys(split_words("ssh sshpass autossh mosh rsh sftp ssh-copy-id"), _check_login),
    **dict.fromkeys(("scp", "rsync", "rcp"), _judge_remote_copy),
    "openssl": _judge_openssl,
    "logger": _check_logger,
}
_KINDS: Final[dict[str, _Judge]] = {
    "fetchers": _judge_fetch,
    "mailers": _check_service,
    "cloud": _check_service,
    "databases": _judge_database,
}
