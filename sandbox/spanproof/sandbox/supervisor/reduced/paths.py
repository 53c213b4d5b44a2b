"""Which paths are a program's own in the reduced tier, where it sees the machine's paths.

As `paths.Boundary`, but what exists is no sign of anything: only what Landlock lets through is inside.
"""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

from spanproof.sandbox.places import PROBED
from spanproof.sandbox.supervisor.namespaces import root
from spanproof.sandbox.supervisor.reduced.calls import open_beneath
from spanproof.sandbox.supervisor.reduced.landlock import Walls
from spanproof.sandbox.supervisor.seccomp.paths import Boundary, Judged, is_within

_READABLE = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls",
    "/etc/ca-certificates",
    "/etc/mime.types",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/os-release",  # pip finds out by these which system it is on, and ends where it may not read them
    "/etc/debian_version",
    "/etc/lsb-release",
    "/etc/redhat-release",
    "/etc/alpine-release",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",  # duckdb reads its limits, and ends where they exist and cannot be read
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_CREDENTIALS = frozenset(("pip.conf", ".condarc", ".npmrc"))
_SHARED = ("/usr", "/usr/local")
_OWN_DESCRIPTOR = re.compile(r"/+dev/+(fd(/\d+)?|stdin|stdout|stderr)/*")
_OWN_NETWORK = re.compile(r"/proc/self/(task/\d+/)?net(/|$)")
_PROC_READ = re.compile(
    r"(cpuinfo|meminfo|stat|version|version_signature|filesystems|loadavg|uptime|vmstat|diskstats|partitions|swaps|modules|sys/(kernel|vm|fs)/[a-z_.]+"
    r"|sys/kernel/random/(boot_id|uuid|entropy_avail|poolsize))"
)


def _list_readable(roots: Iterable[str]) -> tuple[str, ...]:
    """Return what may be read: these directories without credentials, and files of the system."""
    named = [path for one in roots for path in _list_without_credentials(one)]
    named += filter(os.path.lexists, (*_READABLE, *root.list_toolchain_settings()))
    # A rule is for what a path leads to: links within what is readable lead to what is.
    return tuple(filter(os.path.lexists, root.select_outermost(map(os.path.realpath, named))))


class ReducedBoundary(Boundary):
    """One box's boundary, and the walls that hold it."""

    def __init__(
        self,
        box: str,
        directories: tuple[str, ...],
        program_path: str,
        binds: Sequence[root.Bind] = (),
        import_folders: Sequence[str] = (),
    ) -> None:
        """Build the boundary of a box.

        Args:
            box: its path.
            directories: the interpreter's.
            program_path: where programs are searched.
            binds: what else is seen; at its own path, for nothing can be bound here.
            import_folders: as of `Boundary`.
        """
        system = [path for path in root.SYSTEM if Path(path).is_dir()]
        images = [os.path.realpath(bind.source) for bind in binds if not bind.writable]
        roots = root.select_outermost([*system, *directories, *images])
        super().__init__(roots, program_path, import_folders)
        self._own = (box, *(os.path.realpath(bind.source) for bind in binds if bind.writable))
        devices = tuple(path for path in _DEVICES if Path(path).exists())
        self.walls = Walls(_list_readable(roots), self._own, devices)

    def is_own(self, resolved: str) -> bool:
        """Whether a resolved path lies in the box, or in another directory that may be written to."""
        return self.find_home(resolved) is not None

    def find_home(self, resolved: str) -> str | None:
        """Return the one of these directories that it lies in."""
        return next((own for own in self._own if is_within(resolved, (own,))), None)

    def open_own_path(self, resolved: str) -> int:
        """Open a descriptor that replaces a path of its own, links within followed.

        Raises:
            OSError: it leads out meanwhile, or is not there.
        """
        home = self.find_home(resolved)
        assert home is not None, "only what is its own is opened in its stead"
        return open_beneath(home, resolved[len(home) + 1 :], os.O_PATH)

    def is_open(self, resolved: str) -> bool:
        """Whether Landlock lets a resolved path be read or run."""
        return self.is_own(resolved) or is_within(resolved, (*self.walls.readable, *self.walls.devices))

    def read_search_paths(self) -> dict[str, str]:
        """Return the interpreter's `.pth` files that lead to what no guest may read, without those lines.

        With them each Python it starts would look there by itself.
        """
        found = {}
        for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
            for path in Path(site).glob("*.pth"):
                lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
                kept = [
                    line for line in lines if line.startswith(("#", "import")) or self._leads_in(site, line)
                ]
                if kept != lines:
                    found[os.path.realpath(path)] = "".join(kept)
        return found

    def _leads_in(self, site: str, line: str) -> bool:
        return self.is_open(os.path.realpath(os.path.join(site, line.strip())))  # noqa: PTH118

    def judge(self, path: str, pid: int, *, writes: bool, follows: bool = True) -> tuple[Judged, str]:
        """See `Boundary`; its own descriptors are a program's to open, whatever they are called."""
        if _OWN_DESCRIPTOR.fullmatch(path):
            return Judged.INSIDE, path
        return super().judge(path, pid, writes=writes, follows=follows)

    def _classify_path(self, resolved: str, *, writes: bool) -> Judged:
        if self.is_own(resolved):
            return Judged.INSIDE
        if resolved in self.walls.devices:
            return Judged.INSIDE
        if resolved == "/proc":
            return Judged.FORBIDDEN
        if resolved.startswith("/proc/"):
            return self._evaluate_kernel_path(resolved, writes=writes)
        judged = super()._classify_path(resolved, writes=writes)
        if judged is Judged.INSIDE and self._is_inside_by_existing(resolved):
            return Judged.OUTSIDE
        return judged

    def _is_inside_by_existing(self, resolved: str) -> bool:
        """Whether it is inside in the full tier because it is there at all; here everything is."""
        if resolved == "/" or PROBED.fullmatch(resolved):
            return False
        return not (self.is_open(resolved) or self.is_import(resolved) or self._is_device(resolved))

    def _evaluate_kernel_path(self, resolved: str, *, writes: bool) -> Judged:
        if _OWN_NETWORK.match(resolved):
            return Judged.FORBIDDEN  # it is the machine's
        if resolved.startswith("/proc/self/"):
            if writes and "/fd/" not in resolved:
                return Judged.FORBIDDEN
            return Judged.INSIDE
        if re.match(r"/proc/\d+(/|$)", resolved):
            return Judged.FORBIDDEN
        if _PROC_READ.fullmatch(resolved.removeprefix("/proc/")):
            return Judged.OUTSIDE if writes else Judged.INSIDE
        return Judged.FORBIDDEN


def _list_without_credentials(path: str) -> list[str]:
    """Return a directory, or what is in it where some of it must not be read: Landlock only adds."""
    names = os.listdir(path) if os.access(path, os.R_OK) else []  # noqa: PTH208
    secret = _CREDENTIALS | ({"etc"} if path in _SHARED else set())
    if path == "/usr" and "local" in names:
        kept = [f"/usr/{name}" for name in names if name not in secret and name != "local"]
        return [*kept, *_list_without_credentials("/usr/local")]
    if secret.isdisjoint(names):
        return [path]
    return [f"{path}/{name}" for name in names if name not in secret]
