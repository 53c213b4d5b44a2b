"""The environment a run's code had, from what its trace records of it.

In: a trace, a run, and the store of environments. Out: the package set to replay the run in, where its code
imports packages that are not installed here; or a `NoReplay` while that set is being built or where it cannot
be had. A set is built once, locked, and shared by all runs and processes. Of the recorded packages only those
that the code imports are pinned: their dependencies come with the lock.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from spanproof.evaluators.model import NoReplay, NoReplayCause
from spanproof.evaluators.replay.uses import read_uses
from spanproof.sandbox import Ecosystem, EnvironmentUnavailable, PackageSet
from spanproof.trace import Language, Run, Trace

if TYPE_CHECKING:
    from spanproof.sandbox.environments import Environments

log = logging.getLogger(__name__)

RETRY_AFTER_S = 3600.0
"""A set that could not be had is tried again after so long: the registry may have it by then."""

# Distributions whose name is not their module's, by the module.
_PROVIDERS = {
    "bs4": "beautifulsoup4",
    "crypto": "pycryptodome",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "jwt": "pyjwt",
    "openssl": "pyopenssl",
    "pil": "pillow",
    "pptx": "python-pptx",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}

_ANY = "*"
_SEPARATORS = re.compile(r"[-_.]+")
_EXACT = re.compile(r"\d[\w.!+]*\Z")


class TraceEnvironments:
    """Package sets by trace. Thread-safe.

    Attributes:
        in_background: runs do not wait for a build; they get a `NoReplay` and are evaluated again later.
    """

    def __init__(self, environments: Environments, allowed: Sequence[str]) -> None:
        """Take the store, and the names of packages that may be built; `*` allows any."""
        self.in_background = False
        self._allowed = frozenset(map(_normalise_name, allowed))
        self._environments = environments
        self._pool = ThreadPoolExecutor(1, "spanproof-environments")
        self._builds: dict[PackageSet, tuple[float, Future[None]]] = {}
        self._lock = threading.Lock()

    def find_packages(self, trace: Trace, run: Run) -> PackageSet | NoReplay | None:
        """Return the package set to replay a run in; None where what is installed here will do."""
        wanted = find_allowed_packages(trace, run, self._allowed)
        if wanted is None:
            return None
        build = self._build(wanted)
        pins = ", ".join(wanted.pins[:3]) + (", …" if len(wanted.pins) > 3 else "")
        if self.in_background and not build.done():
            return NoReplay(f"environment being built: {pins}", NoReplayCause.BUILDING)
        try:
            build.result()
        except EnvironmentUnavailable as problem:
            return NoReplay(f"the run's environment cannot be had: {problem}")
        except Exception as failure:
            log.exception("an environment could not be built: %s", pins)
            name = type(failure).__name__
            return NoReplay(f"building {pins} failed: {name}: {failure}", NoReplayCause.FAILED, name)
        return wanted

    def close(self) -> None:
        """Let go of builds that have not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _build(self, wanted: PackageSet) -> Future[None]:
        with self._lock:
            begun, build = self._builds.get(wanted, (0.0, None))
            is_over = build is not None and build.done() and build.exception() is not None
            if build is None or (is_over and time.monotonic() - begun > RETRY_AFTER_S):
                build = self._pool.submit(self._add_environment, wanted)
                self._builds[wanted] = time.monotonic(), build
            return build

    def _add_environment(self, wanted: PackageSet) -> None:
        self._environments.get_lease(wanted).close()


def find_allowed_packages(trace: Trace, run: Run, allowed: Collection[str]) -> PackageSet | None:
    """Return the allowed packages that a run's code imports, as its process had them.

    None where all are installed here, and where none is allowed: the names come out of a trace, which anyone
    may have written, and a name that is private here is someone else's in a public index.
    """
    recorded = trace.environment(run.span_id)
    if recorded is None:
        return None
    by_name = {_normalise_name(name): (name, release) for name, release in recorded.packages.items()}
    pins: dict[str, str] = {}
    for module in _list_modules(run):
        name = _normalise_name(module)
        found = by_name.get(name) or by_name.get(_normalise_name(_PROVIDERS.get(module.lower(), "")))
        is_allowed = found is not None and (_ANY in allowed or _normalise_name(found[0]) in allowed)
        if found is not None and is_allowed and _EXACT.match(found[1]):
            pins[found[0]] = found[1]
    if all(map(_is_installed, pins)):
        return None
    return PackageSet(Ecosystem.PIP, tuple(f"{name}=={release}" for name, release in sorted(pins.items())))


def _list_modules(run: Run) -> frozenset[str]:
    """Return the top-level modules that the executed Python of a run imports."""
    found: set[str] = set()
    aliases: dict[str, str] = {}
    for snippet in run.snippets:
        if snippet.executed and snippet.language is Language.PYTHON:
            uses, aliases = read_uses(snippet.source, aliases)
            found |= {use.module.partition(".")[0] for use in uses}
    return frozenset(found)


def _normalise_name(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True
