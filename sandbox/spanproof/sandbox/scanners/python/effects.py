"""From a call that reaches outside to findings: each effect's argument is held against the boundary.

In: a resolved name, its effects (`sinks.py`), the arguments. Out: findings, and the result's taint where the
effect decides it. Known targets are judged, unknown ones reviewed; nothing is ever opened or reached.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from typing import Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.python import commands, databases, payloads
from spanproof.sandbox.scanners.python.machine import Arguments, Check, Machine
from spanproof.sandbox.scanners.python.names import module_of
from spanproof.sandbox.scanners.python.sinks import SINKS, Effect
from spanproof.sandbox.scanners.python.targets import NETWORK, judge_flow, judge_host, judge_path, plain_name
from spanproof.sandbox.scanners.python.values import (
    Const,
    Function,
    Items,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    options_of,
    pieces_of,
)
from spanproof.sandbox.scanners.rules import explain_call

_FILE = frozenset({"file"})
_ENVIRONMENT = frozenset({"environment"})
_WRITING_MODE = re.compile(r"[wax+]")


def apply(
    m: Machine, function: Ref, effects: Sequence[Effect], arguments: Arguments, node: ast.expr
) -> Value | None:
    """Judge every effect of a call; gives the call's result where an effect decides it."""
    result: Value | None = None
    for effect in effects:
        if effect.kind in {"deny", "review"}:
            verdict = Verdict.DENY if effect.kind == "deny" else Verdict.REVIEW
            m.add(effect.keyword, node, explain_call(plain_name(function.name), effect.keyword), verdict)
            continue
        check = CHECKS[effect.kind]
        if effect.position == -1:
            value = function.owner
        elif effect.position == -2:
            value = Const(None)
        else:
            value = arguments.get(effect.position, effect.keyword)
        if value is None and effect.kind == "dbserver":
            value = Const("localhost")  # what drivers reach when no host is given
        if value is None:
            continue
        found = check(m, function, value, effect, arguments, node)
        result = found if found is not None else result
    return result


def check_module(m: Machine, name: str, node: ast.expr) -> None:
    """Judge a call by the module it goes to."""
    policy = m.context.boundary.policy
    top = module_of(name)
    if top in policy.denied_modules or ".".join(name.split(".")[:2]) in policy.denied_modules:
        m.add("module.denied", node, f"calls {plain_name(name)}, in a module the policy denies")
    elif (
        policy.allowed_modules
        and "." in name
        and top not in policy.allowed_modules
        and top not in sys.stdlib_module_names  # what it reaches is judged by itself
        and top != "?"
    ):
        m.add("module.unlisted", node, f"calls {plain_name(name)}, in a module the policy does not name")


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
        m.add("exec.dynamic", node, f"passes {function.name} to other code, which can run anything with it")
    for effect in effects:
        if effect.kind == "deny":
            m.add(effect.keyword, node, f"passes {function.name} to other code")


def _path_check(action: Action) -> Check:
    def check(
        m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
    ) -> Value | None:
        judge_path(m, action, value, function.name, node)
        return Ref(f"{function.name}()", _FILE) if action is Action.READ else None

    return check


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
            result = Ref(f"{function.name}()", NETWORK)
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
        if effect.position < len(arguments.positional) or effect.keyword in arguments.named:
            return CHECKS[check_kind](m, function, value, effect, arguments, node)
        return None

    return check


def _url(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Ref) and option.name.startswith(("urllib.request.Request()", "requests.")):
            continue  # judged where it was made
        crossing = m.context.boundary.url(pieces_of(option))
        m.context.crossed("python", crossing, m.place(node), f"{plain_name(function.name)}:")
    judge_flow(m, arguments, node, function.name)
    return Ref(f"{function.name}()", NETWORK)


def _host(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    port = arguments.get(effect.position + 1, "port")
    judge_host(m, value, port, function.name, node)
    return Ref(f"{function.name}()", NETWORK)


def _address(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Items) and option.items:
            judge_host(
                m, option.items[0], option.items[1] if len(option.items) > 1 else None, function.name, node
            )
        elif isinstance(option, Const) and isinstance(option.value, str):
            judge_path(m, Action.WRITE, option, function.name, node)  # a unix socket
        else:
            judge_host(m, option, None, function.name, node)
    judge_flow(m, arguments, node, function.name)
    return Ref(f"{function.name}()", NETWORK)


def _last_address(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    return _address(
        m, function, arguments.positional[-1] if arguments.positional else value, effect, arguments, node
    )


def _connect(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    """`.connect` on an object that is not known: judged where its argument looks like an address."""
    for option in options_of(value):
        if isinstance(option, Items) and len(option.items) == 2 and option.kind == "tuple":
            return _address(m, function, option, effect, arguments, node)
    return None


def _environment(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        name = pieces[0] if len(pieces) == 1 and pieces[0] is not None else ""
        if m.context.crossed(
            "python", m.context.boundary.environment(name), m.place(node), f"{function.name}:"
        ):
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


def _callback(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    return m.call(
        value, Arguments(arguments.positional[effect.position + 1 :], arguments.named, arguments.more), node
    )


def _thread(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    given = arguments.get(
        effect.position + (2 if function.name.endswith(("Thread", "Process")) else 1), "args"
    )
    items = given.items if isinstance(given, Items) else []
    more = given is not None and not isinstance(given, Items)
    if isinstance(value, Function | Ref):
        m.call(value, Arguments(items, {}, more), node)
    return None


def _nothing(
    m: Machine, function: Ref, value: Value, effect: Effect, arguments: Arguments, node: ast.expr
) -> Value | None:
    return None


CHECKS: Final[dict[str, Check]] = {
    **commands.CHECKS,
    **databases.CHECKS,
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
    "env": _environment,
    "envall": _whole_environment,
    "envset": _set_environment,
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
