"""Warm supervisors, by what their interpreter has loaded.

In: a program's source and tests, as a hint. Out: a supervisor that waits, started when there is none. A
program that names a heavy package gets a supervisor forked from an interpreter that has it loaded; what a
program may do does not depend on which one it gets, only how soon its imports are done. Thread-safe.
"""

from __future__ import annotations

import re
import threading
import time
import weakref
from dataclasses import dataclass, field, replace
from pathlib import Path

from spanproof.sandbox.backends.jail import probe
from spanproof.sandbox.errors import SandboxBroken, SandboxUnavailable
from spanproof.sandbox.model import DatabaseEngine, Ecosystem, Program, SessionSpec, Tier
from spanproof.sandbox.supervisor.forkserver.host import Master, SupervisorLink
from spanproof.sandbox.supervisor.namespaces.root import ENVIRONMENT, Bind

_GUEST = "spanproof.sandbox.guest"
# Of package sets, whose interpreters are kept at once.
_ENVIRONMENTS = 4


@dataclass(frozen=True, slots=True)
class Kind:
    """A supervisor's interpreter: modules loaded ahead, extra directories, packages, hash seed."""

    preload: tuple[str, ...] = ()
    binds: tuple[Bind, ...] = ()
    site: str | None = None
    hash_seed: int = 0


PLAIN = Kind()
# With what tests of arrays and tables use, and libraries load late.
DATA = Kind(("numpy", "pandas", "numpy.testing", "pandas.testing"))
_ENGINES = {
    DatabaseEngine.SQLITE: Kind((f"{_GUEST}.sql_sqlite",)),
    DatabaseEngine.DUCKDB: Kind((f"{_GUEST}.sql_duck",)),
}
_NUMPY_USERS = frozenset(("numpy", "pandas", "scipy", "sklearn"))
_IMPORTS_NUMPY = re.compile(
    rf"^\s*(?:import|from)\s+(?:[\w.]+\s*,\s*)*(?:{'|'.join(sorted(_NUMPY_USERS))})\b", re.MULTILINE
)
# Of a source, or of tests, so that a huge one costs nothing.
_READ_CHARACTERS = 65_536


def get_kind(program: Program) -> Kind:
    """Select a program's interpreter by what the start of its source and of its tests import."""
    if program.language == "sql":
        return _ENGINES[program.fixtures.database.engine]
    if program.language != "python":
        return PLAIN
    texts = (program.source, program.tests or "")
    imports_numpy = any(_IMPORTS_NUMPY.search(text, 0, _READ_CHARACTERS) for text in texts)
    return DATA if imports_numpy else PLAIN


def get_session_kind(spec: SessionSpec, packages: Kind | None = None) -> Kind:
    """Select the interpreter for a session's programs: that of their packages, else by what they import."""
    if _NUMPY_USERS.intersection(spec.imports):
        by_imports = DATA
    else:
        by_imports = PLAIN
    kind = packages or by_imports
    return replace(kind, hash_seed=spec.fixtures.hash_seed)


def get_environment_kind(image: Path, ecosystem: Ecosystem) -> Kind:
    """Select the interpreter of a package set; loaded ahead, its code would run outside the jail."""
    site = f"{ENVIRONMENT}/site" if ecosystem is Ecosystem.PIP else None
    return Kind(binds=(Bind(str(image), ENVIRONMENT),), site=site)


@dataclass(slots=True)
class _Family:
    """One master, its idle supervisors, and those that callers have."""

    kind: Kind
    unfit: bool = False
    master: Master | None = None
    idle: list[SupervisorLink] = field(default_factory=list)
    lent: weakref.WeakSet[SupervisorLink] = field(default_factory=weakref.WeakSet)
    taken_at: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Pool:
    """All supervisors of one sandbox."""

    def __init__(self, demanded: Tier = Tier.FULL) -> None:
        """Pool supervisors of the strongest tier there is, and never of a weaker one than `demanded`."""
        self._tier = Tier.FULL if demanded is Tier.FULL else None
        self._deciding = threading.Lock()
        self._families = {kind: _Family(kind) for kind in (PLAIN, DATA, *_ENGINES.values())}
        self._lock = threading.Lock()
        self._closed = False

    def get_supervisor(self, kind: Kind, ahead: str = "") -> SupervisorLink:
        """Lend a supervisor to one caller; a plain one where that kind cannot be had.

        Args:
            kind: its interpreter.
            ahead: the interpreter it starts for the next program, by its language, and has started for this
                one if it had one of that name before.

        Raises:
            SandboxUnavailable: this machine cannot run a jail.
            SandboxBroken: the pool is closed, or a supervisor could not be started.
        """
        family = self._get_family(kind)
        try:
            if not family.unfit:
                return self._get_lent_supervisor(family, ahead)
        except SandboxUnavailable:
            if not family.kind.preload:
                raise
            family.unfit = True
        return self._get_lent_supervisor(self._families[PLAIN], ahead)

    def _get_family(self, kind: Kind) -> _Family:
        with self._lock:
            family = self._families.get(kind)
            if family is None:
                family = self._families[kind] = _Family(kind)
            family.taken_at = time.monotonic()
            return family

    def _get_lent_supervisor(self, family: _Family, ahead: str) -> SupervisorLink:
        with family.lock:
            supervisor = self._get_supervisor(family, ahead)
            supervisor.ahead = ahead
            family.lent.add(supervisor)
        if family.kind.binds:
            self._close_idle()
        return supervisor

    def _close_idle(self) -> None:
        """End the interpreters of package sets that have been idle longest."""
        with self._lock:
            living = [one for one in self._families.values() if one.kind.binds and one.master is not None]
        for family in sorted(living, key=lambda one: one.taken_at)[:-_ENVIRONMENTS]:
            with family.lock:
                if not any(supervisor.open for supervisor in family.lent):
                    _close_family(family)

    def _get_supervisor(self, family: _Family, ahead: str) -> SupervisorLink:
        if self._closed:
            raise SandboxBroken("the sandbox is closed")
        while (supervisor := _find_fitting(family.idle, ahead)) is not None:
            family.idle.remove(supervisor)
            if supervisor.alive:
                return supervisor
            supervisor.close()
        if family.master is not None:
            try:
                return family.master.start_supervisor()
            except SandboxBroken:
                if family.master.alive:
                    raise
            family.master.close()  # it has ended: another takes its place
            family.master = None
        family.master, supervisor = _build_supervisor(family.kind, self.get_tier())
        return supervisor

    def get_tier(self) -> Tier:
        """Return the wall of its supervisors: the strongest this machine gives, found by building it."""
        with self._deciding:
            if self._tier is None:
                self._tier = _get_strongest_tier()
            return self._tier

    def add_idle(self, kind: Kind, supervisor: SupervisorLink) -> None:
        """Return a supervisor that has answered and waits again."""
        family = self._families[kind]
        if family.unfit:
            family = self._families[PLAIN]
        with family.lock:
            family.lent.discard(supervisor)
            if not self._closed:
                family.idle.append(supervisor)
                return
        supervisor.close()

    def close(self) -> None:
        """End every master and every supervisor. Safe to call twice."""
        self._closed = True
        with self._lock:
            families = list(self._families.values())
        for family in families:
            with family.lock:
                _close_family(family)


def _find_fitting(idle: list[SupervisorLink], ahead: str) -> SupervisorLink | None:
    """Return the supervisor given back last that has this interpreter, else one that has none.

    One that has another's would throw it away: another supervisor costs less.
    """
    same = (one for one in reversed(idle) if one.ahead == ahead)
    return next(same, None) or next((one for one in reversed(idle) if not one.ahead), None)


def _close_family(family: _Family) -> None:
    """Close its idle supervisors and its master, which takes the others along."""
    supervisors, family.idle = family.idle, []
    master, family.master = family.master, None
    for supervisor in supervisors:
        supervisor.close()
    if master is not None:
        master.close()


def _get_strongest_tier() -> Tier:
    try:
        master, supervisor = _build_supervisor(PLAIN, Tier.FULL)
    except SandboxUnavailable:
        return Tier.REDUCED
    supervisor.close()
    master.close()
    return Tier.FULL


def _build_supervisor(kind: Kind, tier: Tier) -> tuple[Master, SupervisorLink]:
    """Start a master, and its first supervisor as the proof that it can build them."""
    try:
        master = Master(kind.preload, binds=kind.binds, site=kind.site, hash_seed=kind.hash_seed, tier=tier)
    except (SandboxUnavailable, SandboxBroken, OSError) as failure:
        raise _build_failure(failure, tier) from failure
    try:
        return master, master.start_supervisor()
    except SandboxBroken as failure:
        master.close()
        raise _build_failure(failure, tier) from failure


def _build_failure(failure: Exception, tier: Tier) -> SandboxUnavailable:
    """Return why no jail can be built here: the first feature missing, or else what the kernel said."""
    missing = [feature for feature in probe.list_minimal_features(tier) if not feature.present]
    if not missing:
        return SandboxUnavailable(f"{failure}; `spanproof doctor` shows what this machine gives")
    first = missing[0]
    if tier is Tier.FULL and "tier=reduced" not in first.remedy:
        weaker = (
            " Or accept the reduced tier (`--set tier=reduced`; docs/sandbox.md says what it does not hold)."
        )
    else:
        weaker = ""
    return SandboxUnavailable(
        f"the jail's {tier} tier needs {first.name}, which this machine does not give: {first.detail}."
        f" {first.remedy}{weaker} Or configure another backend; `spanproof doctor` shows all features."
    )
