"""Effects of calls that only Python programs make, and the default rule for calls that the catalogue lacks.

In: a resolved name, its effects, the arguments; or an attribute of a library's object that is set. Out:
findings, and the result's taint where the effect decides it. What a call gets literally whose effects are not
known is reviewed where it is outside, unless the catalogue says that the call only holds what it gets.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.scanners.boundary import Action, UseKind
from spanproof.sandbox.scanners.policy_lines import format_addition, format_removal
from spanproof.sandbox.scanners.python import callbacks, databases, log_config, payloads, resources
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import (
    BUILTINS,
    LIBRARIES,
    METHOD_SINKS,
    SINKS,
    TARGETS,
    get_top_module,
)
from spanproof.sandbox.scanners.python.own_files import find_path, handle_overwritten, list_own_objects
from spanproof.sandbox.scanners.reader.effects import CHECKS as COMMON
from spanproof.sandbox.scanners.reader.effects import (
    ENVIRONMENT,
    FILE,
    NETWORK,
    Call,
    Check,
    Effect,
    check_effects,
    handle_effects,
    read_variable,
    to_whole_text,
)
from spanproof.sandbox.scanners.reader.state import Arguments, Kind
from spanproof.sandbox.scanners.reader.values import (
    CLEAN,
    UNKNOWN,
    Const,
    Items,
    Mapping,
    OneOf,
    Path,
    Ref,
    Text,
    Unknown,
    Value,
    build_union_of,
    compute_taint,
    iter_parts,
    list_options,
    to_pieces,
)
from spanproof.sandbox.scanners.rules import describe_call
from spanproof.sandbox.words import split_words

_INERT: Final = LIBRARIES["inert"]
INERT_MODULES: Final = split_entry(_INERT, "modules")
_ACTIVE: Final = split_entry(_INERT, "active")
_ROUTES: Final = split_entry(_INERT, "routes")
_METHODS: Final = split_entry(_INERT, "methods")
_ROUTED: Final = split_entry(_INERT, "routed")
MOVING: Final = (*sorted(split_entry(_INERT, "moving")), "to_")

_REMOTE: Final = split_entry(LIBRARIES["remote"], "modules")
REMOTE_FUNCTIONS: Final = tuple(sorted(split_entry(LIBRARIES["remote"], "functions")))
REMOTE_OPTIONS: Final = split_entry(LIBRARIES["remote"], "options")

# The modules that are known: what others, such as the program's own, do by a name is not.
_LIBRARIES: Final = frozenset(name.partition(".")[0] for name in LIBRARIES["calls"])


# Methods that hold what they get, unless it is a statement.
_SENDING: Final = split_words("exec query raw text")


@lru_cache(maxsize=4096)
def _find_judged_kind(name: str) -> Kind | None:
    """Return what is judged of a call by its resolved name; None where it only holds what it gets."""
    method = name.rpartition(".")[2]
    if name in BUILTINS or method in _METHODS:
        return None
    parts = name.replace("()", "").replace("[]", "").split(".")
    prefixes = {".".join(parts[:count]) for count in (1, 2, 3)}
    if prefixes & INERT_MODULES and not prefixes & _ACTIVE and not method.startswith(MOVING):
        return None
    is_routed = bool(prefixes & _ROUTES) or method in _ROUTED
    return Kind(paths=not is_routed, hosts=not is_routed and parts[0] != "?")


# Modules whose texts are patterns.
_SEARCHING: Final = frozenset({"re", "regex"})


def check_unknown_call(m: Machine, function: Value, arguments: Arguments, node: ast.expr) -> None:
    """Judge what a call gets whose effects are not known."""
    if not arguments.positional and not arguments.named:
        return
    if isinstance(function, Ref) and isinstance(function.owner, Const | Items | Mapping | Text | Path):
        return
    name = function.name if isinstance(function, Ref) else _describe_called(node)
    is_searched = name.partition(".")[0] in _SEARCHING
    if name not in BUILTINS and not is_searched and any(map(_walks, arguments.positional)):
        m.add("escape.internals", node, f"{m.format_name(name)} gets a text that walks through attributes")
    kind = _find_judged_kind(name)
    if kind is not None:
        for value in arguments.list_all():
            m.check_literal(value, name, node, kind)
    if kind is not None or name.rpartition(".")[2] in _SENDING:
        for value in arguments.list_all():
            for option in list_options(value):
                m.check_statement(option, name, node)


def _describe_called(node: ast.expr) -> str:
    """Return the name of what a call calls, where it is not known what the name means."""
    called = node.func if isinstance(node, ast.Call) else node
    return "?." + (called.id if isinstance(called, ast.Name) else getattr(called, "attr", "call"))


def check_remote(m: Machine, name: str, arguments: Arguments, node: ast.expr) -> None:
    """Judge a call that reaches a host by itself: into the module of a service, or one that downloads."""
    if "." not in name or name.startswith("?") or name.endswith(("Error", "Exception")):
        return
    options = [one for option, one in arguments.named.items() if option in REMOTE_OPTIONS]
    if _is_remote(name) or any(isinstance(one, Const) and one.value is True for one in options):
        m.add("network.implicit", node, describe_call(m.format_name(name), "network.implicit"))


@lru_cache(maxsize=4096)
def _is_remote(name: str) -> bool:
    """Whether a function reaches a host by itself: one in the module of a service, or one that downloads."""
    parts = name.split(".")
    is_of_service = any(".".join(parts[:count]) in _REMOTE for count in (1, 2))
    downloads = parts[0] in _LIBRARIES and parts[-1].startswith(REMOTE_FUNCTIONS)
    return "()" not in name and (is_of_service or downloads)


_WALK: Final = re.compile(r"__(?:class|globals|subclasses|builtins|mro|bases?|import|code|getattribute)__")


def _walks(value: Value) -> bool:
    """Whether a text names the interpreter's internals, as those do that a library looks up."""
    return isinstance(value, Const) and isinstance(value.value, str) and bool(_WALK.search(value.value))


def check_target(m: Machine, owner: Ref, name: str, value: Value, node: ast.expr) -> None:
    """Judge where an object of a library goes by one of its attributes."""
    if name in TARGETS:
        for option in value.entries.values() if isinstance(value, Mapping) else (value,):
            m.check_literal(option, f"{owner.name}.{name}", node)


def check_declared(m: Machine, bases: list[Value], attributes: dict[str, Value], node: ast.ClassDef) -> None:
    """Judge what a class declares for the library that it extends."""
    for base in bases:
        if isinstance(base, Ref) and "." in base.name:
            kind = _find_judged_kind(base.name)
        else:
            kind = None
        if kind is not None:
            for name, value in attributes.items():
                m.check_literal(value, name, ast.Name(name, lineno=node.lineno, col_offset=0), kind)


WRITING_MODE = re.compile(r"[wax+]")
# Modes that keep what a file held before.
_ADDING_MODE = re.compile(r"a|r.?\+")


def handle_call(
    m: Machine, function: Ref, effects: Sequence[Effect], arguments: Arguments, node: ast.expr
) -> Value | None:
    """Judge every effect of a call; gives the call's result where an effect decides it."""
    loads = any(effect.keyword == _LOADS for effect in effects)
    own = _list_own_objects(m, effects, arguments) if loads else []
    if own:
        effects = [effect for effect in effects if effect.keyword != _LOADS]
    result = handle_effects(m, function, effects, arguments, node, CHECKS)
    if own:
        return build_union_of(payloads.evaluate_own_pickle(m, one, node) for one in own)
    return result


# The rule of calls that can build any object from a file.
_LOADS: Final = "deserialize.untrusted"


def _list_own_objects(m: Machine, effects: Sequence[Effect], arguments: Arguments) -> list[Value]:
    """Return what a file holds that a call loads, where the program wrote it itself."""
    files = [
        arguments.find(effect.position, effect.keyword) for effect in effects if effect.keyword != _LOADS
    ]
    if files and files[0] is not None:
        return list_own_objects(m, files[0])
    return []


@lru_cache(maxsize=4096)
def _split_module(name: str) -> tuple[str, str]:
    """Return the module of a resolved name, and its first two words, which may name a part of the module."""
    return get_top_module(name), ".".join(name.split(".")[:2])


def check_module(m: Machine, name: str, node: ast.expr) -> None:
    """Judge a call by the module it goes to."""
    policy = m.context.boundary.policy
    top, submodule = _split_module(name)
    # What the standard library reaches is judged by itself.
    is_listed = top in policy.allowed_modules or top in sys.stdlib_module_names
    if top in policy.denied_modules or submodule in policy.denied_modules:
        m.context.boundary.record_use(UseKind.MODULE, top)
        denied = top if top in policy.denied_modules else submodule
        line = format_removal("denied_modules", denied)
        message = f"calls {m.format_name(name)}, in a module the policy denies"
        m.add("module.denied", node, message, policy_line=line)
    elif policy.allowed_modules and not is_listed and "." in name and top != "?":
        line = format_addition("allowed_modules", top)
        message = f"calls {m.format_name(name)}, in a module the policy does not name"
        m.add("module.unlisted", node, message, policy_line=line)


def check_attribute(m: Machine, owner: Ref, name: str, value: Value, node: ast.expr) -> None:
    """Judge what an attribute of something outside the program is set to."""
    if owner.name == "sys" and name == "path":
        check_import_path(m, value, node)
    elif name in {"proxies", "proxy"}:
        _handle_proxies(Call(m, owner, Effect("proxies", -2, ""), Arguments([]), node), value)
    else:
        check_target(m, owner, name, value, node)


def check_handed_function(m: Machine, function: Ref, node: ast.expr) -> None:
    """Judge a function that reaches outside, given to other code, which may call it with anything."""
    effects = SINKS[function.name]
    kinds = {effect.kind for effect in effects}
    if kinds & {"shell", "argv", "code", "spawnv"}:
        m.add("exec.dynamic", node, f"passes {function.name} to other code, which can run anything with it")
    for effect in effects:
        if effect.kind == "deny":
            m.add(effect.keyword, node, f"passes {function.name} to other code")


def check_flow(m: Machine, arguments: Arguments, node: ast.expr, who: str) -> None:
    """Report a network call that may carry what was read from a secret or a file."""
    taint = CLEAN.union(*[compute_taint(value) for value in arguments.list_all()])
    who = m.format_name(who)
    if taint & {"environment", "secret"}:
        message = f"{who} sends what was read from the environment or a secret"
        m.add("flow.secret-to-network", node, message)
    elif "file" in taint:
        m.add("flow.file-to-network", node, f"{who} sends what was read from a file")


def _record_opened(call: Call[Machine], value: Value, *, adds: bool) -> None:
    """Note that a file is emptied to be written, or added to."""
    files, path = call.m.context.own_files, handle_overwritten(call.m, value)
    if path is None:
        return
    if not adds:
        files.record_emptied(path)
    # What it is added to is not known, nor what becomes of a map of it.
    if (adds and not files.holds(path)) or call.name == "numpy.memmap":
        files.record_unknown(path)


def _handle_open(call: Call[Machine], value: Value) -> Value | None:
    mode = call.arguments.find(2 if call.name == "numpy.memmap" else 1, "mode")
    writes = adds = False
    for option in list_options(mode) if mode is not None else ():
        text = option.value if isinstance(option, Const) else "r+"
        writes = writes or (isinstance(text, str) and bool(WRITING_MODE.search(text.partition(":")[0])))
        adds = adds or not isinstance(text, str) or bool(_ADDING_MODE.search(text))
    call.check_path(Action.WRITE if writes else Action.READ, value)
    path = find_path(call.m, value)
    if writes:
        _record_opened(call, value, adds=adds)
    return Ref(f"{call.name}()", FILE, value if path is not None else None)


def _handle_dump(call: Call[Machine], value: Value) -> Value | None:
    """Judge the file that an object is written to, the other one of the call's first two arguments."""
    path = find_path(call.m, value)
    if path is None:
        return _handle_save(call, value)
    handle_overwritten(call.m, value)
    if not isinstance(value, Ref):
        call.check_path(Action.WRITE, value)
    others = [one for one in call.arguments.list_all()[:2] if one is not value]
    call.m.context.own_files.add_object(path, others[0] if others else UNKNOWN)
    return None


def _handle_work_directory(call: Call[Machine], value: Value) -> Value | None:
    call.check_path(Action.READ, value)
    call.m.update_directory(to_whole_text(value), call.node if call.name == "os.chdir" else None)
    call.m.context.own_files.close()
    return None


def _handle_user_name(call: Call[Machine], value: Value) -> Value | None:
    return read_variable(call.m, "USER", call.name, call.node)


def _handle_os_open(call: Call[Machine], value: Value) -> Value | None:
    flags = call.arguments.find(1, "flags")
    reads = isinstance(flags, Ref) and flags.name == "os.O_RDONLY"
    call.check_path(Action.READ if reads or flags is None else Action.WRITE, value)
    return Ref("os.open()", FILE)


def _handle_load(call: Call[Machine], value: Value) -> Value | None:
    if isinstance(value, Items):
        for one in _list_items(value):
            _handle_load(call, one)
        return Ref(f"{call.name}()", FILE)
    head = to_pieces(value)[0]
    if head is not None and head.lstrip()[:1] in {"{", "[", "<"}:
        pass  # the data itself, as read_json and read_html take it
    elif _is_url(value):
        return _handle_url(call, value)
    elif not (isinstance(value, Ref) and "()" in value.name and not value.name.startswith("?")):
        # Not an object some library made: a buffer, a response, a connection.
        call.check_path(Action.READ, value)
    return Ref(f"{call.name}()", FILE)


def _list_items(value: Items) -> list[Value]:
    """Return what a list holds at any depth, which is opened all or in part: `random.sample(paths, 2)`."""
    return [part for part in iter_parts(value) if not isinstance(part, Items | OneOf)]


def _handle_save(call: Call[Machine], value: Value) -> Value | None:
    if isinstance(value, Items):
        for one in _list_items(value):
            _handle_save(call, one)
    elif _is_url(value):
        _handle_url(call, value)
    elif isinstance(value, Const | Text | Path | Unknown):
        _handle_write(call, value)
    return None


def _handle_open_file(call: Call[Machine], value: Value) -> Value | None:
    """Judge the opening of a file or a URL."""
    if _is_url(value):
        return _handle_url(call, value)
    return _handle_open(call, value)


def _is_url(value: Value) -> bool:
    head = to_pieces(value)[0]
    return head is not None and "://" in head[:24]


def _handle_protocol(call: Call[Machine], value: Value) -> Value | None:
    """Judge a file system by its name, of which only those of this machine reach no host."""
    name = to_pieces(value)[0]
    if name is None or name not in {"file", "local", "memory", "zip", "tar", "dir"}:
        rule = "network.dynamic" if name is None else "network.host"
        call.add(rule, f"{call.who} reaches the store {name or 'that is not known'}")
    return None


def _handle_proxies(call: Call[Machine], value: Value) -> Value | None:
    """Judge the hosts that requests go through."""
    for option in list_options(value):
        for one in option.entries.values() if isinstance(option, Mapping) else (option,):
            if not isinstance(one, Const) or isinstance(one.value, str):
                call.handle_crossing(call.boundary.evaluate_url(to_pieces(one)))
    return None


def _handle_settings(call: Call[Machine], value: Value) -> Value | None:
    """Judge settings of matplotlib, of which one has every text set by LaTeX, and files that hold some."""
    for option in value.items if isinstance(value, Items) else list_options(value):
        if isinstance(option, Const | Text | Path):
            _handle_load(call, option)
        uses = option.entries.get("text.usetex") if isinstance(option, Mapping) else None
        if uses is not None and not (isinstance(uses, Const) and not uses.value):
            call.m.run_command(("latex",), CLEAN, call.name, call.node)
    return None


def _handle_sys_path(call: Call[Machine], value: Value) -> Value | None:
    check_import_path(call.m, value, call.node)
    return None


def check_import_path(m: Machine, value: Value, node: ast.expr) -> None:
    """Judge a directory that modules are imported from."""
    for option in value.items if isinstance(value, Items) else (value,):
        head = to_pieces(option)[0]
        if head is not None and head.startswith(("/", "~")):
            m.check_path(Action.READ, option, "sys.path", node)
        elif (
            m.context.boundary.evaluate_path(Action.READ, to_pieces(option)) is not None and head is not None
        ):
            m.add("file.dynamic", node, "imports modules from a directory above the work directory")


def _handle_netrc(call: Call[Machine], value: Value) -> Value | None:
    call.check_path(Action.READ, value)
    return Unknown(ENVIRONMENT)


def _handle_model(call: Call[Machine], value: Value) -> Value | None:
    """Judge weights by a name, which are downloaded, or by a directory; trusted ones run their own code."""
    trusted = call.arguments.named.get("trust_remote_code")
    if trusted is not None and not (isinstance(trusted, Const) and not trusted.value):
        call.add("exec.download", f"{call.who} runs the code that comes with the weights")
    head = to_pieces(value)[0]
    if head is not None and head.startswith((".", "/", "~")):
        call.check_path(Action.READ, value)
    elif not isinstance(value, Ref):
        call.add("network.implicit", describe_call(call.who, "network.implicit"))
    return None


def _handle_implicit_host(call: Call[Machine], value: Value) -> Value | None:
    """Judge a library that always reaches the same host."""
    if call.boundary.evaluate_host(call.effect.keyword) is not None:
        call.add("network.implicit", describe_call(call.who, "network.implicit"))
    return Ref(f"{call.name}()", NETWORK)


def _handle_own_path(call: Call[Machine], value: Value) -> Value | None:
    if isinstance(value, Path | Unknown):
        call.check_path(Action(call.effect.keyword), value)
    return None


# Calls that only describe a request, and what may send one: where none of it is in the text, none is sent.
_DESCRIBING: Final = split_words("urllib.request.Request requests.Request httpx.Request")
_MAY_SEND: Final = re.compile(
    r"urlopen|send|\.open\(|__|\b(?:getattr|exec|eval|import_module|globals|vars)\b"
)


def _handle_url(call: Call[Machine], value: Value) -> Value | None:
    if call.name in _DESCRIBING and not _MAY_SEND.search(call.m.text):
        return Ref(f"{call.name}()", NETWORK)
    if isinstance(value, Ref) and value.name.startswith(("urllib.request.Request()", "requests.")):
        pass  # judged where it was made
    elif not (call.name.startswith("requests.Session()") and _is_relative(value)):
        # A relative URL is one to the client's `base_url`, which is judged where it is given.
        call.handle_crossing(call.boundary.evaluate_url(to_pieces(value)))
    for keyword in ("proxies", "proxy"):
        if keyword in call.arguments.named:
            _handle_proxies(call, call.arguments.named[keyword])
    check_flow(call.m, call.arguments, call.node, call.name)
    return Ref(f"{call.name}()", NETWORK)


def _is_relative(value: Value) -> bool:
    """Whether a URL surely has neither a scheme nor a host: a client without a base refuses it."""
    pieces = to_pieces(value)
    head = pieces[0] or ""
    first, slash, _ = head.partition("/")
    if head.startswith("/"):
        return not head.startswith("//") and (len(head) > 1 or len(pieces) == 1)
    return bool(head) and (bool(slash) or len(pieces) == 1) and _SEGMENT.fullmatch(first) is not None


# The first part of a relative URL, where it is no name of a host.
_SEGMENT = re.compile(r"[\w-]+(?:[?#].*)?")


def _handle_host(call: Call[Machine], value: Value) -> Value | None:
    port = call.arguments.find(call.effect.position + 1, "port")
    call.check_host(value, port)
    return Ref(f"{call.name}()", NETWORK)


def _handle_address(call: Call[Machine], value: Value) -> Value | None:
    if isinstance(value, Items) and value.items:
        call.check_host(value.items[0], value.items[1] if len(value.items) > 1 else None)
    elif isinstance(value, Const) and isinstance(value.value, str):
        call.check_path(Action.WRITE, value)  # a unix socket
    else:
        call.check_host(value)
    check_flow(call.m, call.arguments, call.node, call.name)
    return Ref(f"{call.name}()", NETWORK)


def _handle_last_address(call: Call[Machine], value: Value) -> Value | None:
    last = call.arguments.positional[-1] if call.arguments.positional else value
    return build_union_of(_handle_address(call, option) or UNKNOWN for option in list_options(last))


def _handle_connect(call: Call[Machine], value: Value) -> Value | None:
    """Judge `.connect` on an object that is not known, where its argument looks like an address."""
    is_address = isinstance(value, Items) and len(value.items) == 2 and value.kind == "tuple"
    return _handle_address(call, value) if is_address else None


def _handle_bind(call: Call[Machine], value: Value) -> Value | None:
    """Judge the address that a socket is bound to: a pair, or the path of a socket of this machine."""
    call.m.binds_socket = True
    if isinstance(value, Const | Text | Path) and to_whole_text(value) != "":
        call.check_path(Action.WRITE, value)
        return None
    return COMMON["listen"](call, value)


def _handle_unbound_listen(call: Call[Machine], value: Value) -> Value | None:
    """Judge a socket that listens without an address: every one of the machine's."""
    if call.m.binds_socket:
        return None
    return COMMON["listen"](call, Const(""))


# Variables that change which programs, libraries and modules are loaded.
_LOADING: Final = re.compile(r"(?:LD_|DYLD_|PYTHON|BASH_ENV|IFS).*|PATH(?:EXT)?", re.DOTALL)


def _handle_environment_write(call: Call[Machine], value: Value) -> Value | None:
    name, assigned = to_pieces(value)[0] or "", call.arguments.find(1, "value") or UNKNOWN
    if name and not call.m.uncertain and not call.name.endswith("setdefault"):
        call.m.context.variables.add(name)
    if name:
        call.m.write_value(call.m.context.values, name, assigned)
    if _LOADING.fullmatch(name.upper()):
        call.add("environment.write", f"sets {name}, which changes how programs load")
    elif name.upper().endswith("_PROXY") and not name.upper().startswith("NO_"):
        _handle_proxies(call, assigned)
    else:
        call.m.check_variables([(name, assigned)], call.name, call.node)
    return None


def _handle_environment_update(call: Call[Machine], value: Value) -> Value | None:
    """Judge each variable that `os.environ.update` sets."""
    variables = call.arguments.find(0)
    entries = variables.entries if isinstance(variables, Mapping) else {}
    for name, given in {**entries, **call.arguments.named}.items():
        call.m.evaluate_call(Ref("os.putenv"), Arguments([Const(name), given]), call.node)
    return None


def _handle_write(call: Call[Machine], value: Value) -> Value | None:
    """Judge the file that a call writes, whose content is not known from then on."""
    call.check_path(Action.WRITE, value)
    call.m.context.own_files.record_unknown(handle_overwritten(call.m, value))
    return None


def _handle_unpacking(call: Call[Machine], value: Value) -> Value | None:
    """Note that any file may hold what an archive brings."""
    call.m.context.own_files.record_unknown(None)
    return None


CHECKS: Final[dict[str, Check]] = {
    **COMMON, "unpack": _handle_unpacking, "write": _handle_write, **payloads.CHECKS, **databases.CHECKS,
    "open": _handle_open, "osopen": _handle_os_open, "workdir": _handle_work_directory,
    "username": _handle_user_name,
    **resources.CHECKS, **log_config.CHECKS, "load": _handle_load,
    "save": _handle_save, "openfile": _handle_open_file, "protocol": _handle_protocol,
    "proxies": _handle_proxies,
    "importpath": _handle_sys_path, "settings": _handle_settings, "netrc": _handle_netrc,
    "model": _handle_model,
    "implicit": _handle_implicit_host, "pathself": _handle_own_path,
    "url": _handle_url, "host": _handle_host, "address": _handle_address, "addresslast": _handle_last_address,
    "connect": _handle_connect, "envset": _handle_environment_write, "envupdate": _handle_environment_update,
    **callbacks.CHECKS, "bind": _handle_bind, "unbound": _handle_unbound_listen,
    "dump": _handle_dump,
}  # fmt: skip
"""What judges each kind of effect."""

check_effects(SINKS | METHOD_SINKS, CHECKS, "python", "libraries")
