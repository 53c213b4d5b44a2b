"""Where images and locks are kept, and shared between processes.

    <directory>/locks/<key of the wish>.json     what a package set was locked to
    <directory>/images/<key of the lock>/        an image: `site` or `node_modules`, `lock.json`
    <directory>/building/<key of the wish>/      the work of a build that is going on

An image appears whole, by one rename. Who uses one holds a shared lock on a file beside it, who removes one
an exclusive lock. Nothing here runs or downloads anything.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from spanproof.sandbox.environments.lock import Lock
from spanproof.sandbox.errors import EnvironmentUnavailable
from spanproof.sandbox.file_locks import LOCK_EX, LOCK_NB, LOCK_SH, flock

DIRECTORY_VARIABLE = "SPANPROOF_ENVIRONMENTS"
_LOCK_FILE = "lock.json"


@dataclass(frozen=True, slots=True)
class Image:
    """One environment, ready to be bound.

    Attributes:
        path: read-only; holds `site` (pip) or `node_modules` (npm), and `lock.json`.
        used_at: Unix time of its last use.
    """

    key: str
    path: Path
    lock: Lock
    size_bytes: int
    used_at: float


class Lease:
    """An image that no process removes while this is open."""

    def __init__(self, path: Path, lock: Lock, descriptor: int) -> None:
        self.path = path
        self.lock = lock
        self._descriptor = descriptor

    def close(self) -> None:
        """Release it. Safe to call twice."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def get_default_directory() -> Path:
    """Return `$SPANPROOF_ENVIRONMENTS`, else `spanproof/environments` in the user's cache."""
    configured = os.environ.get(DIRECTORY_VARIABLE)
    if configured:
        return Path(configured).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache).absolute() / "spanproof" / "environments"


class Store:
    """One directory of images. Safe for any number of threads and processes."""

    def __init__(self, directory: Path | None = None) -> None:
        if directory is not None:
            self.directory = directory
        else:
            self.directory = get_default_directory()

    def find_lock(self, wish: str) -> Lock | None:
        """Return what a package set was locked to before."""
        try:
            return Lock.read((self.directory / "locks" / f"{wish}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write_lock(self, wish: str, lock: Lock) -> None:
        """Keep it for every later build."""
        self._write(self._build_directory("locks") / f"{wish}.json", lock.to_text())

    def remove_locks(self) -> None:
        """Let the next build of each package set choose anew."""
        for path in (self.directory / "locks").glob("*.json"):
            path.unlink(missing_ok=True)

    def find_lease(self, lock: Lock) -> Lease | None:
        """Return the image of a lock, if it is there."""
        path = self.directory / "images" / lock.key
        if not path.is_dir():
            return None
        try:
            descriptor = self._find_image_lock(lock.key, LOCK_SH)
        except OSError as problem:
            if problem.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # carried here, to read: it is not pruned
        assert descriptor is not None  # we waited
        if not path.is_dir():
            os.close(descriptor)
            return None
        with suppress(OSError):
            os.utime(path.with_suffix(".use"))
        return Lease(path, lock, descriptor)

    @contextmanager
    def building(self, wish: str) -> Iterator[Path]:
        """Yield an empty directory to build in; one builder at a time, and nothing of it is left behind.

        Raises:
            EnvironmentUnavailable: the directory cannot be written to.
        """
        directory = self._build_directory("building") / wish
        with open(directory.with_suffix(".lock"), "w") as file:  # noqa: PTH123
            flock(file, LOCK_EX)
            _remove_tree(directory)
            directory.mkdir(mode=0o755)
            try:
                yield directory
            finally:
                _remove_tree(directory)

    def add(self, built: Path, lock: Lock) -> Lease:
        """Make a finished directory the image of a lock, at once and whole.

        Raises:
            EnvironmentUnavailable: the directory cannot be written to.
        """
        images = self._build_directory("images")
        self._write(built / _LOCK_FILE, lock.to_text())
        descriptor = self._find_image_lock(lock.key, LOCK_SH)
        assert descriptor is not None
        with suppress(FileExistsError, OSError):
            built.rename(images / lock.key)  # another wish may have led to the same lock
        if not (images / lock.key).is_dir():
            os.close(descriptor)
            raise EnvironmentUnavailable(f"the image cannot be kept in {images}")
        return Lease(images / lock.key, lock, descriptor)

    def list_images(self) -> list[Image]:
        """Return the images there are, the one used last first."""
        found = []
        for path in self._list_image_paths():
            try:
                lock = Lock.read((path / _LOCK_FILE).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if path.with_suffix(".use").exists():
                used_at = path.with_suffix(".use").stat().st_mtime
            else:
                used_at = 0.0
            found.append(Image(path.name, path, lock, count_file_bytes(path), used_at))
        return sorted(found, key=lambda image: image.used_at, reverse=True)

    def run_prune(self, *, unused_s: float, max_bytes: int) -> list[Image]:
        """Remove images unused for so long, then the longest unused until the rest fits; returns the removed.

        One in use stays, whatever its age and size; a lock stays, so that it can be built again.
        """
        images = self.list_images()
        total = sum(image.size_bytes for image in images)
        removed = []
        for image in reversed(images):
            if (time.time() - image.used_at > unused_s or total > max_bytes) and self._removes_image(image):
                total -= image.size_bytes
                removed.append(image)
        return removed

    def _removes_image(self, image: Image) -> bool:
        descriptor = self._find_image_lock(image.key, LOCK_EX | LOCK_NB)
        if descriptor is None:
            return False
        try:
            trash = self._build_directory("building") / f"{image.key}.trash"
            _remove_tree(trash)  # of a prune that was killed
            image.path.rename(trash)
            _remove_tree(trash)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def _list_image_paths(self) -> list[Path]:
        try:
            return [path for path in (self.directory / "images").iterdir() if path.is_dir()]
        except OSError:
            return []

    def _find_image_lock(self, key: str, how: int) -> int | None:
        """Lock an image, and return the descriptor; None where another holds it and we do not wait."""
        path = self.directory / "images" / f"{key}.use"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            flock(descriptor, how)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    def _build_directory(self, name: str) -> Path:
        path = self.directory / name
        try:
            path.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError as problem:
            raise EnvironmentUnavailable(
                f"environments cannot be kept in {self.directory}: {problem.strerror};"
                f" set {DIRECTORY_VARIABLE} to a directory that can be written to"
            ) from problem
        return path

    @staticmethod
    def _write(path: Path, text: str) -> None:
        fresh = path.with_suffix(f".{os.getpid()}.new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)


def count_file_bytes(directory: Path) -> int:
    """Return the bytes of the regular files below a directory; links are not followed."""
    total = 0
    for base, _directories, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_size  # noqa: PTH118 - many of them
    return total


def _remove_tree(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)
