"""Building environments, and having them: the way from a package set to an image.

Resolve and download outside, with the user's own client; unpack inside a sandbox without a network; check
what came out; make it the image by one rename. A set that was built before is a look at two files.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from spanproof.sandbox.environments import npm, pip
from spanproof.sandbox.environments.downloads import build_space_error
from spanproof.sandbox.environments.lock import Lock, compute_wish_key
from spanproof.sandbox.environments.sources import Wanted
from spanproof.sandbox.environments.store import Lease, Store
from spanproof.sandbox.errors import EnvironmentUnavailable
from spanproof.sandbox.model import Ecosystem, Execution, FailureClass, Limits, PackageSet, Program

Install = Callable[[Program, Path, Path], Execution]
"""Runs a program in a sandbox that may read one directory of the host, and write to the other.

The program's input says where it sees them.
"""

LIMITS = Limits(
    wall_s=900.0,
    cpu_s=900.0,
    memory_bytes=2 << 30,
    processes=128,
    disk_bytes=1 << 30,
    open_files=1024,
)
UNUSED_S = 30 * 24 * 3600.0
MAX_BYTES = 20 << 30
RETRY_AFTER_S = 60.0
_PROGRAMS = {Ecosystem.PIP: "install_wheels.py", Ecosystem.NPM: "unpack_tarballs.py"}
_logger = logging.getLogger(__name__)


class Environments:
    """All environments of one store. Thread-safe."""

    def __init__(self, install: Install, store: Store | None = None) -> None:
        """Prepare to build; starts nothing.

        Args:
            install: how a program is run in a build sandbox.
            store: where images are; None is the user's own.
        """
        self._install = install
        self.store = store if store is not None else Store()
        self._failed: dict[str, tuple[float, EnvironmentUnavailable]] = {}

    def get_lease(self, wanted: PackageSet | Wanted) -> Lease:
        """Return the image of a package set, built where it is missing, which is logged.

        A plain set that could not be built is not tried again for a minute: every run of a cohort
        requests it.

        Raises:
            EnvironmentUnavailable: names the pin and the remedy.
        """
        wish = wanted if isinstance(wanted, Wanted) else Wanted(wanted)
        key = compute_wish_key(wish.packages)
        try:
            lock = self._find_lock(wish, key)
            found = self.store.find_lease(lock) if lock is not None else None
            if found is not None:
                return found
            with self.store.building(key) as directory:
                lock = self._find_lock(wish, key)  # another process may have been faster
                found = self.store.find_lease(lock) if lock is not None else None
                if found is None and wish is not wanted:
                    self._check_retry(key)
                return found or self._build(wish, lock, directory)
        except EnvironmentUnavailable as problem:
            if key not in self._failed:
                self._failed[key] = time.monotonic(), problem
            raise
        except OSError as problem:
            if problem.errno in (errno.ENOSPC, errno.EDQUOT):
                raise build_space_error() from problem
            raise EnvironmentUnavailable(f"an environment cannot be built: {problem}") from problem

    def _check_retry(self, key: str) -> None:
        tried, problem = self._failed.get(key, (0.0, None))
        if problem is not None and time.monotonic() - tried < RETRY_AFTER_S:
            raise EnvironmentUnavailable(str(problem))
        self._failed.pop(key, None)

    def _find_lock(self, wish: Wanted, key: str) -> Lock | None:
        """Find the lock to build from, if any: the user's own, which is then kept, or the kept one."""
        if wish.npm_lock is not None:
            lock = npm.parse_package_lock(wish.packages, wish.npm_lock)
            if self.store.find_lock(key) != lock:
                self.store.write_lock(key, lock)
            return lock
        kept = self.store.find_lock(key)
        if kept is not None:
            pip.check_hashes(kept, wish.hashes)
        return kept

    def _build(self, wish: Wanted, earlier: Lock | None, directory: Path) -> Lease:
        started = time.monotonic()
        pins = wish.packages.pins
        more = " …" if len(pins) > 5 else ""
        _logger.info("building an environment, once: %s%s", ", ".join(pins[:5]), more)
        outcome = "no environment was built"
        try:
            leased = self._build_image(wish, earlier, directory)
            outcome = "environment built"
        finally:
            _logger.info("%s (%.1f s)", outcome, time.monotonic() - started, extra={"done": True})
        self.store.run_prune(unused_s=UNUSED_S, max_bytes=MAX_BYTES)
        return leased

    def _build_image(self, wish: Wanted, earlier: Lock | None, directory: Path) -> Lease:
        archives, image = directory / "archives", directory / "image"
        archives.mkdir()
        image.mkdir()
        _logger.info("downloading")
        lock = self._fetch(wish, earlier, archives)
        _logger.info("unpacking %d packages in the sandbox", len(lock.packages))
        self._write_image(lock, archives, image)
        leased = self.store.add(image, lock)
        self.store.write_lock(compute_wish_key(wish.packages), lock)
        return leased

    def _fetch(self, wish: Wanted, earlier: Lock | None, archives: Path) -> Lock:
        if wish.packages.ecosystem is Ecosystem.NPM:
            lock = earlier or npm.build_lock(wish.packages, archives)
            npm.write_packages(lock, archives)
            return lock
        if earlier is not None:
            pip.write_packages(earlier, archives)
        lock = earlier or pip.build_lock(wish.packages, archives)
        pip.check_hashes(lock, wish.hashes)
        pip.write_requirements(lock, archives)
        return lock

    def _write_image(self, lock: Lock, archives: Path, image: Path) -> None:
        for path in archives.iterdir():
            path.chmod(0o644)
        archives.chmod(0o755)
        source = files("spanproof.sandbox.environments.inside").joinpath(_PROGRAMS[lock.ecosystem])
        program = Program("python", source.read_text(encoding="utf-8"), limits=LIMITS)
        execution = self._install(program, archives, image)
        if execution.failure_class is not FailureClass.OK:
            words = (execution.stderr or execution.stdout).strip().splitlines()
            last = words[-1] if words else (execution.reason or "")
            if "No space left" in execution.stderr:
                raise build_space_error()
            raise EnvironmentUnavailable(
                f"the packages could not be unpacked ({execution.failure_class}): {last[:500]}"
            )
        _update_modes(image)


def _update_modes(image: Path) -> None:
    """Make what a sandbox has written ours: plain files and directories, for all to read, for none to change.

    Raises:
        EnvironmentUnavailable: there is something else among it.
    """
    ours = (os.geteuid(), os.getegid())
    for base, directories, names in os.walk(image):
        for name in (*directories, *names):
            path = os.path.join(base, name)  # noqa: PTH118 - many of them
            mode = os.lstat(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise EnvironmentUnavailable(f"a package holds {name!r}, which is neither file nor directory")
            os.chown(path, *ours, follow_symlinks=False)
            os.chmod(path, 0o755 if stat.S_ISDIR(mode) or mode & 0o111 else 0o644)  # noqa: PTH101
    os.chown(image, *ours)
    image.chmod(0o755)
