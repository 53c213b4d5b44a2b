"""Configurations of Python's logging as a mapping: the files, hosts and classes that it names.

In: a call that takes such a mapping. Out: findings.
"""

from __future__ import annotations

import re
from typing import Final

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import normalise_name
from spanproof.sandbox.scanners.reader.effects import Call, Check
from spanproof.sandbox.scanners.reader.state import Arguments
from spanproof.sandbox.scanners.reader.values import Called, Const, Items, Mapping, Ref, Value

# Formatters and handlers of the standard library; where they write and send is judged by their keys.
_LOG_CLASS: Final = re.compile(r"logging\.(?:handlers\.)?[A-Z]\w*")
# What a dotted name does not hold: parts of a value that is not known, and `cfg://` references.
_NO_NAME: Final = re.compile(r"[^\w.]")


def _check_log_class(call: Call[Machine], built: Mapping) -> None:
    """Judge what a mapping of logging has built: the call of the class or function that it names."""
    factory = built.entries.get("()")
    named = factory if factory is not None else built.entries.get("class")
    if isinstance(named, Const) and isinstance(named.value, str):
        name = named.value.removeprefix("ext://").removeprefix("__main__.")
        named = call.m.scope.find(name) or Ref(normalise_name(name))
    if isinstance(named, Called) and not (isinstance(named, Ref) and _NO_NAME.search(named.name)):
        if not (isinstance(named, Ref) and _LOG_CLASS.fullmatch(named.name)):
            options = {key: one for key, one in built.entries.items() if key not in {"()", "class"}}
            call.m.evaluate_call(named, Arguments([], options), call.node)
    elif factory is not None:
        call.add("exec.dynamic", "a configuration of logging calls what it names")


def _handle_log_config(call: Call[Machine], value: Value) -> Value | None:
    """Judge handlers of logging, as a mapping: files, hosts and classes."""
    pending = [value]
    for _ in range(512):
        if not pending:
            return None
        one = pending.pop()
        if isinstance(one, Items):
            pending.extend(one.items)
        elif isinstance(one, Mapping):
            _check_log_class(call, one)
            for key, entry in one.entries.items():
                if key == "filename":
                    call.check_path(Action.WRITE, entry)
                elif key in {"host", "mailhost", "address"}:
                    call.check_host(entry)
                else:
                    pending.append(entry)
    call.add("too-complex", "configures more of logging than is read")
    return None


CHECKS: Final[dict[str, Check]] = {"logconfig": _handle_log_config}
"""What judges each kind of effect of this module."""
