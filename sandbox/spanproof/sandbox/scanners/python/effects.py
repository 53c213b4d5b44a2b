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
from spanproof.sandbox.scanners.python import databases, payloads, targets
from spanproof.sandbox.scanners.python.machine import Arguments, Machine
from spanproof.sandbox.scanners.python.names import SINKS, Effect, module_of
from spanproof.sandbox.scanners.python.targets import NETWORK, Call, Check, judge_flow, judge_path, plain_name
from spanproof.sandbox.scanners.python.values import (
    UNKNOWN,
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
        unless = arguments.named.get(effect.unless)
        if isinstance(unless, Const) and unless.value is True:
            continue
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
        if value is None:
            value = _WHERE_NOTHING_IS_GIVEN.get(effect.kind)
        if value is None:
            continue
        found = check(Call(m, function, effect, arguments, node), value)
        result = found if found is not None else result
    return result


_WHERE_NOTHING_IS_GIVEN: Final = {
    "dbserver": Const("localhost"), "dbfile": Const(":memory:"), "netrc": Const("~/.netrc"),
    "model": Const(""),
}  # fmt: skip


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


def check_attribute(m: Machine, owner: Ref, name: str, value: Value, node: ast.expr) -> None:
    """Judge what an attribute of something outside the program is set to."""
    if owner.name == "sys" and name == "path":
        judge_import_path(m, value, node)
    elif name in {"proxies", "proxy"}:
        _proxies(Call(m, owner, Effect("proxies", -2, ""), Arguments([], {}), node), value)
    else:
        targets.check_target(m, owner, name, value, node)


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
    def check(call: Call, value: Value) -> Value | None:
        call.judge_path(action, value)
        return Ref(f"{call.name}()", _FILE) if action is Action.READ else None

    return check


def _open(call: Call, value: Value) -> Value | None:
    mode = call.arguments.get(2 if call.name == "numpy.memmap" else 1, "mode")
    writes = False
    for option in options_of(mode) if mode is not None else ():
        text = option.value if isinstance(option, Const) else "r+"
        writes = writes or (isinstance(text, str) and bool(_WRITING_MODE.search(text.partition(":")[0])))
    call.judge_path(Action.WRITE if writes else Action.READ, value)
    return Ref(f"{call.name}()", _FILE)


def _os_open(call: Call, value: Value) -> Value | None:
    flags = call.arguments.get(1, "flags")
    reads = isinstance(flags, Ref) and flags.name == "os.O_RDONLY"
    judge_path(call.m, Action.READ if reads or flags is None else Action.WRITE, value, "os.open", call.node)
    return Ref("os.open()", _FILE)


def _load(call: Call, value: Value) -> Value | None:
    result: Value | None = None
    for option in options_of(value):
        head = pieces_of(option)[0]
        if head is not None and head.lstrip()[:1] in {"{", "[", "<"}:
            continue  # the data itself, as read_json and read_html take it
        if _is_url(option):
            _url(call, option)
            result = Ref(f"{call.name}()", NETWORK)
        elif isinstance(option, Ref) and "()" in option.name and not option.name.startswith("?"):
            continue  # an object some library made: a buffer, a response, a connection
        else:
            call.judge_path(Action.READ, option)
    return result or Ref(f"{call.name}()", _FILE)


def _save(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        if _is_url(option):
            _url(call, option)
        elif isinstance(option, Const | Text | Path | Unknown):
            call.judge_path(Action.WRITE, option)
    return None


def _open_file(call: Call, value: Value) -> Value | None:
    """A file or a URL."""
    result: Value | None = None
    for option in options_of(value):
        result = _url(call, option) if _is_url(option) else _open(call, option)
    return result


def _is_url(value: Value) -> bool:
    head = pieces_of(value)[0]
    return head is not None and "://" in head[:24]


def _protocol(call: Call, value: Value) -> Value | None:
    """A file system by its name, of which only those of this machine reach no host."""
    name = pieces_of(value)[0]
    if name is None or name not in {"file", "local", "memory", "zip", "tar", "dir"}:
        rule = "network.dynamic" if name is None else "network.host"
        call.add(rule, f"{plain_name(call.name)} reaches the store {name or 'that is not known'}")
    return None


def _proxies(call: Call, value: Value) -> Value | None:
    """Hosts that requests go through."""
    for option in options_of(value):
        for one in option.entries.values() if isinstance(option, Mapping) else (option,):
            if not isinstance(one, Const) or isinstance(one.value, str):
                call.crossed(call.boundary.url(pieces_of(one)))
    return None


def _import_path(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        judge_import_path(call.m, option, call.node)
    return None


def judge_import_path(m: Machine, value: Value, node: ast.expr) -> None:
    """Judge a directory that modules are imported from."""
    for option in value.items if isinstance(value, Items) else (value,):
        head = pieces_of(option)[0]
        if head is not None and head.startswith(("/", "~")):
            judge_path(m, Action.READ, option, "sys.path", node)
        elif m.context.boundary.path(Action.READ, pieces_of(option)) is not None and head is not None:
            m.add("file.dynamic", node, "imports modules from a directory above the work directory")


def _netrc(call: Call, value: Value) -> Value | None:
    call.judge_path(Action.READ, value)
    return Unknown(_ENVIRONMENT)


def _model(call: Call, value: Value) -> Value | None:
    """Weights by a name, which are downloaded, or by a directory; their own code runs where it is trusted."""
    trusted = call.arguments.named.get("trust_remote_code")
    if trusted is not None and not (isinstance(trusted, Const) and not trusted.value):
        call.add("exec.download", f"{plain_name(call.name)} runs the code that comes with the weights")
    for option in options_of(value):
        head = pieces_of(option)[0]
        if head is not None and head.startswith((".", "/", "~")):
            call.judge_path(Action.READ, option)
        elif not isinstance(option, Ref):
            call.add("network.implicit", explain_call(plain_name(call.name), "network.implicit"))
    return None


def _implicit(call: Call, value: Value) -> Value | None:
    """A library that always reaches the same host."""
    if call.boundary.host(call.effect.keyword) is not None:
        call.add("network.implicit", explain_call(plain_name(call.name), "network.implicit"))
    return Ref(f"{call.name}()", NETWORK)


def _expression(call: Call, value: Value) -> Value | None:
    """A formula over columns: Python, where it calls or goes through attributes."""
    for option in options_of(value):
        text = pieces_of(option)[0]
        if isinstance(option, Const | Text):
            targets.judge_statement(call.m, option, call.name, call.node)
        if isinstance(option, Const) and text is not None and ("@" in text or "__" in text or "(" in text):
            source = re.sub(r"`[^`]*`", "column", text.replace("@", ""))
            payloads.run_expression(call.m, source, call.name, call.node)
    return None


def _log_config(call: Call, value: Value) -> Value | None:
    """Handlers of logging, as a mapping: files, hosts and classes."""
    pending = [value]
    for _ in range(512):
        if not pending:
            return None
        one = pending.pop()
        if isinstance(one, Items):
            pending.extend(one.items)
        elif isinstance(one, Mapping):
            for key, entry in one.entries.items():
                if key == "filename":
                    call.judge_path(Action.WRITE, entry)
                elif key in {"host", "mailhost", "address"}:
                    call.judge_host(entry, None)
                elif key == "()":
                    call.add("exec.dynamic", "a configuration of logging calls what it names")
                else:
                    pending.append(entry)
    call.add("too-complex", "configures more of logging than is read")
    return None


def _annotations(call: Call, value: Value) -> Value | None:
    payloads.run_annotations(call.m, call.node)
    return None


def _doctest(call: Call, value: Value) -> Value | None:
    """Examples in the program's own documentation."""
    payloads.run_examples(call.m, call.node)
    return None


def _path_self(call: Call, value: Value) -> Value | None:
    if isinstance(value, Path | Unknown):
        call.judge_path(Action(call.effect.keyword), value)
    return None


def _optional(check_kind: str) -> Check:
    def check(call: Call, value: Value) -> Value | None:
        if isinstance(value, Const) and value.value is None:
            return None
        if (
            call.effect.position < len(call.arguments.positional)
            or call.effect.keyword in call.arguments.named
        ):
            return CHECKS[check_kind](call, value)
        return None

    return check


def _url(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Ref) and option.name.startswith(("urllib.request.Request()", "requests.")):
            continue  # judged where it was made
        if call.name.startswith("requests.Session()") and _is_relative(option):
            continue  # to the client's `base_url`, which is judged where it is given
        call.crossed(call.boundary.url(pieces_of(option)))
    for keyword in ("proxies", "proxy"):
        if keyword in call.arguments.named:
            _proxies(call, call.arguments.named[keyword])
    judge_flow(call.m, call.arguments, call.node, call.name)
    return Ref(f"{call.name}()", NETWORK)


def _is_relative(value: Value) -> bool:
    """Whether a URL surely has neither a scheme nor a host: a client without a base refuses it."""
    pieces = pieces_of(value)
    head = pieces[0] or ""
    first, slash, _ = head.partition("/")
    if head.startswith("/"):
        return not head.startswith("//") and (len(head) > 1 or len(pieces) == 1)
    return bool(head) and (bool(slash) or len(pieces) == 1) and _SEGMENT.fullmatch(first) is not None


_SEGMENT = re.compile(r"[\w-]+(?:[?#].*)?")
"""The first part of a relative URL, where it is no name of a host."""


def _host(call: Call, value: Value) -> Value | None:
    port = call.arguments.get(call.effect.position + 1, "port")
    call.judge_host(value, port)
    return Ref(f"{call.name}()", NETWORK)


def _address(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        if isinstance(option, Items) and option.items:
            call.judge_host(option.items[0], option.items[1] if len(option.items) > 1 else None)
        elif isinstance(option, Const) and isinstance(option.value, str):
            call.judge_path(Action.WRITE, option)  # a unix socket
        else:
            call.judge_host(option, None)
    judge_flow(call.m, call.arguments, call.node, call.name)
    return Ref(f"{call.name}()", NETWORK)


def _last_address(call: Call, value: Value) -> Value | None:
    return _address(call, call.arguments.positional[-1] if call.arguments.positional else value)


def _connect(call: Call, value: Value) -> Value | None:
    """`.connect` on an object that is not known: judged where its argument looks like an address."""
    for option in options_of(value):
        if isinstance(option, Items) and len(option.items) == 2 and option.kind == "tuple":
            return _address(call, option)
    return None


def _environment(call: Call, value: Value) -> Value | None:
    for option in options_of(value):
        pieces = pieces_of(option)
        name = pieces[0] if len(pieces) == 1 and pieces[0] is not None else ""
        if call.crossed(call.boundary.environment(name)):
            return Unknown(_ENVIRONMENT)
    return Unknown(frozenset({"any"}))


def _whole_environment(call: Call, value: Value) -> Value | None:
    call.crossed(call.boundary.environment(""))
    return Unknown(_ENVIRONMENT)


def _set_environment(call: Call, value: Value) -> Value | None:
    name = pieces_of(value)[0]
    if name is not None and name.upper().startswith(("LD_", "DYLD_", "PYTHON", "PATH", "BASH_ENV", "IFS")):
        call.add("environment.write", f"sets {name}, which changes how programs load")
    if name is not None and name.upper().endswith("_PROXY") and not name.upper().startswith("NO_"):
        _proxies(call, call.arguments.get(1, "value") or UNKNOWN)
    return None


def _callback(call: Call, value: Value) -> Value | None:
    return call.m.call(
        value,
        Arguments(
            call.arguments.positional[call.effect.position + 1 :], call.arguments.named, call.arguments.more
        ),
        call.node,
    )


def _thread(call: Call, value: Value) -> Value | None:
    given = call.arguments.get(
        call.effect.position + (2 if call.name.endswith(("Thread", "Process")) else 1), "args"
    )
    items = given.items if isinstance(given, Items) else []
    more = given is not None and not isinstance(given, Items)
    if isinstance(value, Function | Ref):
        call.m.call(value, Arguments(items, {}, more), call.node)
    return None


def _nothing(call: Call, value: Value) -> Value | None:
    return None


CHECKS: Final[dict[str, Check]] = {
    **payloads.CHECKS,
    **databases.CHECKS,
    "read": _path_check(Action.READ),
    "write": _path_check(Action.WRITE),
    "delete": _path_check(Action.DELETE),
    "permission": _path_check(Action.PERMISSION),
    "open": _open,
    "osopen": _os_open,
    "load": _load,
    "save": _save,
    "openfile": _open_file,
    "protocol": _protocol,
    "proxies": _proxies,
    "importpath": _import_path,
    "netrc": _netrc,
    "model": _model,
    "expression": _expression,
    "implicit": _implicit,
    "logconfig": _log_config,
    "doctest": _doctest,
    "annotations": _annotations,
    "pathself": _path_self,
    **{
        f"{kind}opt": _optional(kind)
        for kind in ("read", "write", "load", "save", "url", "host", "address", "code")
    },
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
