"""Warm slots, by what their interpreter has loaded.

In: a program's source, as a hint. Out: a slot that waits, started when there is none. A program that names a
heavy package gets a slot forked from an interpreter that has it loaded; what a program may do does not depend
on which one it gets, only how soon its imports are done. Thread-safe.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field

from spanproof.sandbox.errors import SandboxBroken, SandboxUnavailable
from spanproof.sandbox.jail import probe
from spanproof.sandbox.jail.host import Master, SlotLink
from spanproof.sandbox.model import Program

PLAIN, DATA = "plain", "data"
_GUEST = "spanproof.sandbox.jail.guest"
_PRELOAD = {
    PLAIN: (),
    DATA: ("numpy", "pandas"),
    "sqlite": (f"{_GUEST}.sql_sqlite",),
    "duckdb": (f"{_GUEST}.sql_duck",),
}
_NAMES_DATA = re.compile(r"^\s*(?:import|from)\s+(?:[\w.]+\s*,\s*)*(?:pandas|numpy)\b", re.MULTILINE)


def kind_for(program: Program) -> str:
    """Which interpreter suits a program; looks at its start only, so that a huge one costs nothing."""
    if program.language == "sql":
        return program.fixtures.database.engine.value
    names_data = program.language == "python" and _NAMES_DATA.search(program.source, 0, 65536)
    return DATA if names_data else PLAIN


@dataclass(slots=True)
class _Family:
    """One master and its idle slots."""

    preload: tuple[str, ...]
    unfit: bool = False
    master: Master | None = None
    idle: list[SlotLink] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Pool:
    """All slots of one sandbox."""

    def __init__(self) -> None:
        self._families = {kind: _Family(preload) for kind, preload in _PRELOAD.items()}
        self._closed = False

    def warmest(self) -> str:
        """The kind to take for code that is not known yet: what is loaded already costs nothing more."""
        return DATA if self._families[DATA].master is not None else PLAIN

    def take(self, kind: str) -> SlotLink:
        """A slot for one caller, until it is given back or closed; a plain one where that kind cannot be had.

        Raises:
            SandboxUnavailable: this machine cannot run a jail.
            SandboxBroken: the pool is closed, or a slot could not be started.
        """
        family = self._families[kind]
        try:
            if not family.unfit:
                return self._take(family)
        except SandboxUnavailable:
            if not family.preload:
                raise
            family.unfit = True
        return self._take(self._families[PLAIN])

    def _take(self, family: _Family) -> SlotLink:
        with family.lock:
            if self._closed:
                raise SandboxBroken("the sandbox is closed")
            while family.idle:
                slot = family.idle.pop()
                if slot.alive:
                    return slot
                slot.close()
            if family.master is not None and not family.master.alive:
                family.master.close()
                family.master = None
            if family.master is None:
                family.master, slot = _start(family.preload)
                return slot
            return family.master.slot()

    def give_back(self, kind: str, slot: SlotLink) -> None:
        """Return a slot that has answered and waits again."""
        family = self._families[PLAIN if self._families[kind].unfit else kind]
        with family.lock:
            if not self._closed:
                family.idle.append(slot)
                return
        slot.close()

    def close(self) -> None:
        """End every master and every slot. Safe to call twice."""
        self._closed = True
        for family in self._families.values():
            with family.lock:
                slots, family.idle = family.idle, []
                master, family.master = family.master, None
            for slot in slots:
                slot.close()
            if master is not None:
                master.close()


def _start(preload: tuple[str, ...]) -> tuple[Master, SlotLink]:
    """A master, and its first slot as the proof that it can build them."""
    try:
        master = Master(preload)
    except (SandboxUnavailable, SandboxBroken, OSError) as failure:
        raise _unavailable(failure) from failure
    try:
        return master, master.slot()
    except SandboxBroken as failure:
        master.close()
        raise _unavailable(failure) from failure


def _unavailable(failure: Exception) -> SandboxUnavailable:
    """Why a jail cannot be built here: the first feature that is missing, or else what the kernel said."""
    missing = [feature for feature in probe.minimal_features() if not feature.present]
    if not missing:
        return SandboxUnavailable(f"{failure}; `spanproof doctor` shows what this machine gives")
    first = missing[0]
    return SandboxUnavailable(
        f"the jail needs {first.name}, which this machine does not give: {first.detail}. {first.remedy}"
        " Or configure another backend; `spanproof doctor` shows all features."
    )
