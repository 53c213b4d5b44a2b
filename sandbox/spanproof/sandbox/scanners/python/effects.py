"""From a call that reaches outside to findings: each effect's argument is held against the boundary.

In: a resolved name, its effects (`sinks.py`), the arguments. Out: findings, and the result's taint where the
effect decides it. Known targets are judged, unknown ones asked about; nothing is ever opened or reached.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Final

from spanproof.sandbox.scanners.boundary import Action, Pieces
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.python import payloads
from spanproof.sandbox.scanners.python.machine import Arguments, Machine
from spanproof.sandbox.scanners.python.names import module_of
from spanproof.sandbox.scanners.python.sinks import SINKS, Effect
from spanproof.sandbox.scanners.python.values import (
    NAME,
    Const,
    Function,
    Items,
    Mapping,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    options_of,
    pieces_of,
    taint_of,
    text_value,
)

_NETWORK = frozenset({"network"})
_FILE = frozenset({"file"})
_ENVIRONMENT = frozenset({"environment"})
_WRITING_MODE = re.compile(r"[wax+]")
_BUFFERS = ("io.", "open()", "requests.", "urllib.", "tempfile.", "sys.", "gzip.", "zipfile.", "httpx.", "sqlite3.")
_SQL_REACHES_OUT: Final = re.compile(
    r"\b(?:attach\s+(?:database\b|['\"])|load_extension|load_file|into\s+(?:outfile|dumpfile)|xp_cmdshell"
    r"|copy\s[^;]{0,200}\bprogram\b|pg_read_file|pg_ls_dir|lo_import|lo_export|dblink|utl_http|readfile|writefile"
    r"|sys_exec|openrowset|read_csv|read_parquet|read_text|install\s+httpfs|copy\s|\.shell)",
    re.IGNORECASE,
)

Check = Callable[[Machine, Ref, Value, Effect, Arguments, ast.expr], Value | None]


def apply(
    m: Machine, function: Ref, effects: Sequence[Effect], arguments: Arguments, node: ast.expr
) -> Value | None:
    """Judge every effect of a call; gives the call's result where an effect decides it."""
    result: Value | None = None
    for effect in effects:
        if effect.kind in {"deny", "review"}:
            verdict = Verdict.DENY if effect.kind == "deny" else Verdict.REVIEW
            m.add(effect.keyword, node, f"calls {_plain(function.name)}", verdict)
            continue
        check = _CHECKS[effect.kind]
        if effect.index == -1:
            value = function.owner
        elif effect.index == -2:
            value = Const(None)
        else:
            value = arguments.get(effect.index, effect.keyword)
        if value is None:
            continue
        found = check(m, function, value, effect, arguments, node)
        result = found if found is not None else result
    return result


def check_module(m: Machine, name: str, node: ast.expr) -> None:
    """Judge a call by the module it goes to."""
    policy = m.context.boundary.policy
    top = module_of(name)
    if top in policy.denied_modules:
        m.add("module.denied", node, f"calls {_plain(name)}, in a module the policy denies")
    elif policy.allowed_modules and "." in name and top not in policy.allowed_modules and top != "?":
        m.add("module.unlisted", node, f"calls {_plain(name)}, in a module the policy does not name")


def check_environment_escape(m: Machine, arguments: Arguments, node: ast.expr) -> None:
    """The environment as a whole, handed to any call, is read."""
    for value in arguments.all():
        if isinstance(value, Ref) and value.name == "os.environ":
            m.context.crossed("python", m.context.boundary.environment(""), m.place(node), "os.environ:")


def handed_over(m: Machine, function: Ref, node: ast.expr) -> None:
    """A function that reaches outside, given to other code, which may call it with anything."""
    effects = SINKS[function.name]
    kinds = {effect.kind for effect in effects}
    if kinds & {"shell", "argv", "code", "spawnv"}:
        m.add("exec.dynamic", node, f"hands {function.name} to other code, which may run anything by it")
    for effect in effects:
        if effect.kind == "deny":
            m.add(effect.keyword, node, f"hands {function.name} to other code")


def _path_check(action: Action) -> Check:
    def check(
        m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
    ) -> Value | None:
        judge_path(m, action, value, function.name, node)
        return Ref(f"{function.name}()", _FILE) if action is Action.READ else None

    return check


def judge_path(m: Machine, action: Action, value: Value, who: str, node: ast.expr) -> None:
    """Hold a path, in each of its alternatives, against the boundary."""
    for option in options_of(value):
        if isinstance(option, Const) and not isinstance(option.value, str | bytes):
            continue
        if isinstance(option, Items):
            for one in option.items:
                judge_path(m, action, one, who, node)
            continue
        if isinstance(option, Ref) and _is_buffer(option):
            continue
        pieces = pieces_of(option)
        crossing = m.context.boundary.path(action, pieces, holes_are_names=taint_of(option) == NAME)
        m.context.crossed("python", crossing, m.place(node), f"{_plain(who)}:")


def _is_buffer(value: Ref) -> bool:
    return value.name.startswith(_BUFFERS) and not value.name.startswith("sys.argv")


def _open(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    mode = arguments.get(2 if function.name == "numpy.memmap" else 1, "mode")
    writes = False
    for option in options_of(mode) if mode is not None else ():
        text = option.value if isinstance(option, Const) else "r+"
        writes = writes or (isinstance(text, str) and bool(_WRITING_MODE.search(text.partition(":")[0])))
    judge_path(m, Action.WRITE if writes else Action.READ, value, function.name, node)
    return Ref(f"{function.name}()", _FILE)


def _os_open(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    flags = arguments.get(1, "flags")
    reads = isinstance(flags, Ref) and flags.name == "os.O_RDONLY"
    judge_path(m, Action.READ if reads or flags is None else Action.WRITE, value, "os.open", node)
    return Ref("os.open()", _FILE)


def _load(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    result: Value | None = None
    for option in options_of(value):
        head = pieces_of(option)[0]
        if head is not None and head.lstrip()[:1] in {"{", "[", "<"}:
            continue  # the data itself, as read_json and read_html take it
        if head is not None and "://" in head[:16]:
            _url(m, function, option, effect, arguments, node)
            result = Ref(f"{function.name}()", _NETWORK)
        elif isinstance(option, Ref) and "()" in option.name and not option.name.startswith("?"):
            continue  # an object some library made: a buffer, a response, a connection
        else:
            judge_path(m, Action.READ, option, function.name, node)
    return result or Ref(f"{function.name}()", _FILE)


def _save(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Const | Text | Path | Unknown):
            if function.name.startswith("?.") and isinstance(option, Unknown) and "." not in effect.keyword:
                judge_path(m, Action.WRITE, option, function.name, node)
            else:
                judge_path(m, Action.WRITE, option, function.name, node)
    return None


def _path_self(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    if isinstance(value, Path | Unknown):
        judge_path(m, Action(effect.keyword), value, function.name, node)
    return None


def _optional(check_kind: str) -> Check:
    def check(
        m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
    ) -> Value | None:
        if isinstance(value, Const) and value.value is None:
            return None
        if effect.index < len(arguments.positional) or effect.keyword in arguments.named:
            return _CHECKS[check_kind](m, function, value, effect, arguments, node)
        return None

    return check


def _url(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Ref) and option.name.startswith(("urllib.request.Request()", "requests.")):
            continue  # judged where it was made
        crossing = m.context.boundary.url(pieces_of(option))
        m.context.crossed("python", crossing, m.place(node), f"{_plain(function.name)}:")
    _judge_flow(m, arguments, node, function.name)
    return Ref(f"{function.name}()", _NETWORK)


def _judge_flow(m: Machine, arguments: Arguments, node: ast.expr, who: str) -> None:
    taint = frozenset().union(*[taint_of(value) for value in arguments.all()]) if arguments.all() else frozenset()
    if taint & {"environment", "secret"}:
        m.add("flow.secret-to-network", node, f"{_plain(who)} sends what was read from the environment or a secret")
    elif "file" in taint:
        m.add("flow.file-to-network", node, f"{_plain(who)} sends what was read from a file")


def _host(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    port = arguments.get(effect.index + 1, "port")
    _judge_host(m, value, port, function.name, node)
    return Ref(f"{function.name}()", _NETWORK)


def _judge_host(m: Machine, value: Value, port: Value | None, who: str, node: ast.expr) -> None:
    number = port.value if isinstance(port, Const) and isinstance(port.value, int) else None
    for option in options_of(value):
        pieces = pieces_of(option)
        if isinstance(option, Items) and option.items:
            _judge_host(m, option.items[0], port, who, node)
            continue
        if len(pieces) == 1 and pieces[0] is not None:
            crossing = m.context.boundary.host(pieces[0], number)
        else:
            crossing = m.context.boundary.url((None,))
        m.context.crossed("python", crossing, m.place(node), f"{_plain(who)}:")


def _address(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Items) and option.items:
            _judge_host(m, option.items[0], option.items[1] if len(option.items) > 1 else None, function.name, node)
        elif isinstance(option, Const) and isinstance(option.value, str):
            judge_path(m, Action.WRITE, option, function.name, node)  # a unix socket
        else:
            _judge_host(m, option, None, function.name, node)
    _judge_flow(m, arguments, node, function.name)
    return Ref(f"{function.name}()", _NETWORK)


def _last_address(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    return _address(m, function, arguments.positional[-1] if arguments.positional else value, effect, arguments, node)


def _connect(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    """`.connect` on an object that is not known: judged where its argument looks like an address."""
    for option in options_of(value):
        if isinstance(option, Items) and len(option.items) == 2 and option.kind == "tuple":
            return _address(m, function, option, effect, arguments, node)
    return None


def _db_file(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        text = pieces_of(option)[0]
        if text is not None and (text == "" or text.startswith((":memory:", "file::memory:"))):
            continue
        if text is not None and text.startswith("file:"):
            option = text_value((text[5:].partition("?")[0], *pieces_of(option)[1:]), option.taint)
        judge_path(m, Action.WRITE, option, function.name, node)
    return Ref(f"{function.name}()")


def _db_server(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    host = arguments.get(effect.index, "host") or arguments.named.get("server") or value
    text = pieces_of(host)[0]
    if text is not None and "://" in text:
        return _db_url(m, function, host, effect, arguments, node)
    if text is not None and "host=" in text:
        host = Const(text.partition("host=")[2].partition(" ")[0])
    _judge_host(m, host, None, function.name, node)
    return Ref(f"{function.name}()", _NETWORK)


def _db_url(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        head = pieces[0]
        if head is not None and head.startswith(("sqlite", "duckdb")):
            path = head.partition("://")[2].removeprefix("/")
            if path and not path.startswith(":memory:"):
                judge_path(m, Action.WRITE, text_value((path, *pieces[1:]), option.taint), function.name, node)
            continue
        m.context.crossed("python", m.context.boundary.url(pieces), m.place(node), f"{_plain(function.name)}:")
    return Ref(f"{function.name}()")


def _shell(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        payloads.run_command(m, pieces_of(option), taint_of(option), function.name, node)
    return None


def _argv(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Items):
            _argv_list(m, option, arguments, function, node)
        else:
            payloads.run_command(m, pieces_of(option), taint_of(option), function.name, node)
    environment = arguments.named.get("env")
    if isinstance(environment, Ref) and environment.name == "os.environ":
        m.context.crossed("python", m.context.boundary.environment(""), m.place(node), "os.environ:")
    return None


def _argv_list(m: Machine, value: Items, arguments: Arguments, function: Ref, node: ast.expr) -> None:
    shell = arguments.named.get("shell")
    if isinstance(shell, Const) and shell.value and value.items:
        payloads.run_command(m, pieces_of(value.items[0]), taint_of(value), function.name, node)
        return
    pieces: list[str | None] = []
    for index, item in enumerate(value.items):
        if index:
            pieces.append(" ")
        pieces.extend(_quoted(pieces_of(item)))
    if value.more:
        pieces.extend([" ", None] if pieces else [None])
    payloads.run_command(m, _compact(pieces), taint_of(value), function.name, node)


def _spawn_arguments(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    # os.execl(path, arg0, arg1, …): the program's own name is given twice.
    rest = arguments.positional[effect.index + 2 :]
    rest = [one for one in rest if not isinstance(one, Mapping)]
    _argv_list(m, Items([value, *rest], more=arguments.more), Arguments([], {}), function, node)
    return None


def _spawn(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    _argv_list(m, Items(arguments.positional[effect.index :], more=arguments.more), Arguments([], {}), function, node)
    return None


def _quoted(pieces: Pieces) -> list[str | None]:
    return [piece if piece is None else shlex.quote(piece) for piece in pieces]


def _compact(pieces: Sequence[str | None]) -> Pieces:
    value = text_value(pieces, NAME)
    return pieces_of(value)


def _environment(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        name = pieces[0] if len(pieces) == 1 and pieces[0] is not None else ""
        if m.context.crossed("python", m.context.boundary.environment(name), m.place(node), f"{function.name}:"):
            return Unknown(_ENVIRONMENT)
    return Unknown(frozenset({"any"}))


def _whole_environment(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    m.context.crossed("python", m.context.boundary.environment(""), m.place(node), f"{function.name}:")
    return Unknown(_ENVIRONMENT)


def _set_environment(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    name = pieces_of(value)[0]
    if name is not None and name.upper().startswith(("LD_", "DYLD_", "PYTHON", "PATH", "BASH_ENV", "IFS")):
        m.add("environment.write", node, f"sets {name}, which changes how programs load")
    return None


def _sql(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        found = _SQL_REACHES_OUT.search(" ".join(piece or "?" for piece in pieces)[:20_000])
        if found is not None and isinstance(option, Const | Text):
            payloads.run_sql(m, pieces, function.name, node)
        elif len(pieces) > 1 and "any" in taint_of(option):
            m.add("query.dynamic", node, f"{_plain(function.name)} takes a statement built from text")
    return None


def _callback(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    return m.call(value, Arguments(arguments.positional[effect.index + 1 :], arguments.named, arguments.more), node)


def _thread(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    given = arguments.get(effect.index + (2 if function.name.endswith(("Thread", "Process")) else 1), "args")
    items = given.items if isinstance(given, Items) else []
    more = given is not None and not isinstance(given, Items)
    if isinstance(value, Function | Ref):
        m.call(value, Arguments(items, {}, more), node)
    return None


def _nothing(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    return None


def _plain(name: str) -> str:
    return name.replace("()", "").removeprefix("?.")


_CHECKS: Final[dict[str, Check]] = {
    "read": _path_check(Action.READ),
    "write": _path_check(Action.WRITE),
    "delete": _path_check(Action.DELETE),
    "permission": _path_check(Action.PERMISSION),
    "open": _open,
    "osopen": _os_open,
    "load": _load,
    "save": _save,
    "pathself": _path_self,
    "readopt": _optional("read"),
    "writeopt": _optional("write"),
    "loadopt": _optional("load"),
    "hostopt": _optional("host"),
    "addressopt": _optional("address"),
    "codeopt": _optional("code"),
    "url": _url,
    "host": _host,
    "address": _address,
    "addresslast": _last_address,
    "connect": _connect,
    "dbfile": _db_file,
    "dbserver": _db_server,
    "dburl": _db_url,
    "shell": _shell,
    "argv": _argv,
    "spawnv": _spawn_arguments,
    "spawn": _spawn,
    "env": _environment,
    "envall": _whole_environment,
    "envset": _set_environment,
    "sql": _sql,
    "callback": _callback,
    "thread": _thread,
    "code": payloads.code_effect,
    "pickle": payloads.pickle_effect,
    "picklefile": payloads.pickle_file_effect,
    "yaml": payloads.yaml_effect,
    "unsafeyaml": payloads.unsafe_yaml_effect,
    "subclasses": _nothing,
    "none": _nothing,
}
"""What judges each kind of effect."""
