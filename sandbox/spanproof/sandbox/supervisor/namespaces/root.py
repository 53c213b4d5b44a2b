"""The guest's root file system: what of the machine a program sees, and where.

In: the interpreter's directories. Out: the calling process's mount namespace has a new root, read-only, made
of recursive binds of system directories and the interpreter, a synthetic /etc, a handful of device nodes,
and an empty `/box` that each run covers with a tmpfs. The machine's other files have no path in it. Called
once, by the master, with CAP_SYS_ADMIN in its own mount namespace; never touches a mount others see.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.guest.wire import count_text_bytes
from spanproof.sandbox.places import WRITABLE
from spanproof.sandbox.supervisor.seccomp.paths import is_within

BOX = "/box"
WORK = "/box/work"
CODE = "/box/code"
ENVIRONMENT = "/env"
"""Where the image of a package set lies."""
GUEST_ID = 1000
# Of the box, the directories that lie at `places.WRITABLE`, by their last names.
_CACHES = tuple((path.rpartition("/")[2], 0o755) for path in WRITABLE)
BOX_DIRECTORIES = (
    ("work", 0o755),
    ("tmp", 0o1777),
    ("shm", 0o1777),
    ("run", 0o755),
    ("code", 0o755),
    *_CACHES,
)

_LISTED = 1000
_LISTED_BYTES = 1024 * 1024  # Of names, as they travel in a result
_DEPTH = 32
# Directories looked into: where no one bounds names (gVisor), a program can make more than anyone reads.
_ENTERED = 20_000

_STAGE = "/tmp"  # noqa: S108 - any directory that exists; covered in our own namespace only
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    "ld.so.cache",
    "alternatives",
    "ssl/certs",
    "ssl/openssl.cnf",
    "ca-certificates",
    "mime.types",
    "fonts",
    "magic",
    "ImageMagick-6",
    "ImageMagick-7",
)
# Directories of /etc without which a toolchain under /usr does not start.
_CONFIGURED = ("java-*-openjdk", "R")

_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {
    "tmp": "box/tmp",
    "var/tmp": "../box/tmp",
    # Apart from /tmp: what lies there under a service's name on a machine is not a program's own to look for.
    "run": "box/run",
    "dev/shm": "../box/shm",
    "dev/fd": "/proc/self/fd",
    "dev/stdin": "/proc/self/fd/0",
    "dev/stdout": "/proc/self/fd/1",
    "dev/stderr": "/proc/self/fd/2",
    "etc/mtab": "/proc/self/mounts",
    "etc/os-release": "../usr/lib/os-release",
    "etc/localtime": "/usr/share/zoneinfo/Etc/UTC",
    **{path[1:]: f"../../box/{path.rpartition('/')[2]}" for path in WRITABLE},
    # Where Node.js looks last, from every directory: the packages of an environment, if it has any.
    "node_modules": "env/node_modules",
}
FILES = {
    # No route leads anywhere: the resolver queries the loopback, where the query is seen and no one answers.
    "etc/resolv.conf": "nameserver 127.0.0.1\noptions attempts:1 timeout:1\n",
    "etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
    # DNS knows no passwords, so that libc reads no /etc/shadow: Perl queries it with each account.
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: dns\nhosts: files dns\n",
    "etc/host.conf": "multi on\n",
    "etc/hostname": "sandbox\n",
    "etc/timezone": "Etc/UTC\n",
    "etc/protocols": "ip 0 IP\nicmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\n",
    "etc/services": "domain 53/tcp\ndomain 53/udp\nhttp 80/tcp\nhttps 443/tcp\n",
    "etc/passwd": f"agent:x:{GUEST_ID}:{GUEST_ID}:agent:{WORK}:/bin/bash\n",
    "etc/group": f"agent:x:{GUEST_ID}:\n",
}


@dataclass(frozen=True, slots=True)
class Bind:
    """A directory of the machine that the guest sees elsewhere."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Visible:
    """What the guest may read, for those who judge its attempts.

    Attributes:
        roots: bound directories, as absolute paths.
        rebound: those of them under a directory that is private to the guest (/tmp, …): they are bound
            into each fresh tmpfs, from their copy under `/.bind`.
    """

    roots: tuple[str, ...]
    rebound: tuple[tuple[str, str], ...]


def list_interpreter_directories() -> tuple[str, ...]:
    """Return where the running interpreter lies: its prefix, its base, and its binary's directory."""
    binary = os.path.realpath(sys.executable)
    library = os.path.realpath(os.__file__)
    wanted = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    wanted += [os.path.realpath(path) for path in wanted]
    if sys.prefix != sys.base_prefix:
        wanted.append(str(Path(sys.executable).parent.parent))
    wanted += [str(Path(binary).parent), str(Path(library).parent)]
    return tuple(select_outermost(path for path in wanted if path != "/" and Path(path).is_dir()))


def list_toolchain_settings() -> tuple[str, ...]:
    """Return the directories of /etc that toolchains under /usr are configured by."""
    return tuple(sorted(str(path) for name in _CONFIGURED for path in Path("/etc").glob(name)))


def build_root(directories: Iterable[str], binds: Sequence[Bind] = ()) -> Visible:
    """Replace the calling process's root.

    Args:
        directories: of the interpreter; bound at their own paths.
        binds: what else is seen, at top-level targets.

    Raises:
        OSError: the kernel refused a step; the message names it.
    """
    kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    system = [path for path in SYSTEM if Path(path).is_dir()]
    links = {path[1:]: str(Path(path).readlink()) for path in system if Path(path).is_symlink()}
    roots = select_outermost([*(path for path in system if path[1:] not in links), *directories])
    taken = {path: _open_tree(path) for path in roots}  # all of them, before the stage covers any
    pieces = _select_pieces()
    bound = {bind: _open_tree(bind.source) for bind in binds}

    kernel.mount("jail", _STAGE, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=4m,nr_inodes=4k")
    os.chdir(_STAGE)
    _write_skeleton(links)
    rebound = []
    for index, (path, tree) in enumerate(taken.items()):
        mount_point = f".bind/{index}" if _is_covered(path) else path[1:]
        if _is_covered(path):
            rebound.append((f"/{mount_point}", path))
        _add_mount(tree, mount_point)
    for target, tree in pieces.items():
        _add_mount(tree, target)
    _add_masks(roots)
    _add_binds(bound)
    kernel.move_root_here()
    return Visible((*roots, *(bind.target for bind in binds)), tuple(rebound))


@dataclass(frozen=True, slots=True)
class _Taken:
    """A copy of a part of the machine's tree, held by a descriptor until it is attached."""

    tree: int
    is_directory: bool


def _open_tree(source: str) -> _Taken:
    return _Taken(kernel.open_tree(source), Path(source).is_dir())


def _select_pieces() -> dict[str, _Taken]:
    """Open what else of the machine is seen, by its place in the new root: devices, some of /etc, /proc."""
    sources = {f"dev/{name}": f"/dev/{name}" for name in _DEVICES} | {"proc": "/proc"}
    seen = (*(f"/etc/{name}" for name in _ETC), *list_toolchain_settings())
    sources |= {path[1:]: path for path in seen if Path(path).exists()}
    return {target: _open_tree(source) for target, source in sources.items()}


def _add_binds(bound: Mapping[Bind, _Taken]) -> None:
    """Attach what else is seen, and allow no writes but where that is meant."""
    for bind, tree in bound.items():
        Path(bind.target[1:]).mkdir()
        if not bind.writable:
            _add_mount(tree, bind.target[1:])
    kernel.set_mount_attributes(".", kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID)
    for bind, tree in bound.items():
        if bind.writable:  # attached last, so that it does not become read-only with the rest
            _add_mount(tree, bind.target[1:])
            kernel.set_mount_attributes(bind.target[1:], kernel.MOUNT_ATTR_NOSUID)


class Tmpfs:
    """The box as a tmpfs over `/box`: the kernel bounds it, and unmounting it is its end."""

    work = WORK
    code = CODE

    def __init__(self, visible: Visible) -> None:
        self._visible = visible
        self._fresh: tuple[int, ...] = ()

    def start_empty(self, size_bytes: int) -> None:
        """See `Box`."""
        inodes = max(1024, size_bytes // 4096)
        options = f"mode=755,size={size_bytes},nr_inodes={inodes},uid={GUEST_ID},gid={GUEST_ID}"
        kernel.mount("box", BOX, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
        for name, mode in BOX_DIRECTORIES:
            path = f"{BOX}/{name}"
            os.mkdir(path, mode)  # noqa: PTH102 - in the path of every run
            os.chmod(path, mode)  # noqa: PTH101 - the umask took bits
        for source, target in self._visible.rebound:
            mount_point = os.path.realpath(target)
            os.makedirs(mount_point, exist_ok=True)  # noqa: PTH103
            kernel.mount(source, mount_point, flags=kernel.MS_BIND | kernel.MS_REC)
        self._fresh = self._read_state()

    def has_changed(self) -> bool:
        """See `Box`; sees what was made, removed, renamed, or had its attributes changed."""
        return self._fresh != self._read_state()

    def _read_state(self) -> tuple[int, ...]:
        space = os.statvfs(BOX)
        changed = (
            _read_change_time(f"{BOX}/{name}") for name in ("", *(name for name, _mode in BOX_DIRECTORIES))
        )
        return (space.f_blocks, space.f_bfree, space.f_ffree, *changed)

    def update_size(self, size_bytes: int) -> None:
        """See `Box`."""
        flags = kernel.MS_REMOUNT | kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("box", BOX, "tmpfs", flags, f"size={size_bytes}")
        self._fresh = self._read_state()

    def remove(self) -> None:
        """See `Box`."""
        for _source, target in self._visible.rebound:
            kernel.umount(os.path.realpath(target))
        kernel.umount(BOX)

    def read_files_left(self) -> dict[str, int]:
        """See `Box`."""
        return read_regular_files(WORK)

    def count_memory_bytes(self) -> int:
        """See `Box`."""
        try:
            box = os.statvfs(BOX)
        except OSError:
            return 0
        return (box.f_blocks - box.f_bfree) * box.f_frsize

    def find_exceeded_limit(self) -> str | None:
        """See `Box`; the kernel does."""
        return None


def _read_change_time(path: str) -> int:
    """Return when a directory was changed last, in nanoseconds; -1 for one that a program has removed."""
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return -1


def read_regular_files(work: str) -> dict[str, int]:
    """Return the regular files below a directory, by `lstat`: a link is never followed."""
    found: dict[str, int] = {}
    waiting = [("", 0)]
    entered = listed_bytes = 0
    while waiting and len(found) < _LISTED and entered < _ENTERED and listed_bytes < _LISTED_BYTES:
        entered += 1
        relative, depth = waiting.pop()
        try:
            entries = list(os.scandir(f"{work}/{relative}"))
        except OSError:
            continue
        for entry in entries:
            name = f"{relative}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH:
                    waiting.append((f"{name}/", depth + 1))
            elif entry.is_file(follow_symlinks=False) and len(found) < _LISTED:
                listed_bytes += count_text_bytes(name)
                if listed_bytes > _LISTED_BYTES:
                    return found
                with contextlib.suppress(OSError):  # gone meanwhile
                    found[name] = entry.stat(follow_symlinks=False).st_size
    return found


def _write_skeleton(links: dict[str, str]) -> None:
    for name in ("dev", "etc", "proc", "box", "var", "home", "root", ".bind"):
        Path(name).mkdir()
    for name, target in {**links, **_LINKS}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).symlink_to(target)
    for name, text in FILES.items():
        Path(name).write_text(text)


def _add_masks(roots: Iterable[str]) -> None:
    """Cover what lies among the binds and may hold the machine's credentials: index URLs, registry tokens."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    for directory in ("usr/etc", "usr/local/etc"):
        if Path(directory).is_dir() and not Path(directory).is_symlink():
            kernel.mount("mask", directory, "tmpfs", flags, "mode=755,size=4k,nr_inodes=2")
    for base in roots:
        for name in ("pip.conf", ".condarc", ".npmrc"):
            if Path(base[1:], name).is_file():
                kernel.mount("dev/null", f"{base[1:]}/{name}", flags=kernel.MS_BIND)


def _add_mount(taken: _Taken, mount_point: str) -> None:
    target = Path(mount_point)
    if taken.is_directory:
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    kernel.move_mount(taken.tree, mount_point)
    os.close(taken.tree)
    if not mount_point.startswith(("dev/", "proc")):
        kernel.set_mount_attributes(mount_point, kernel.MOUNT_ATTR_NODEV)


def _is_covered(path: str) -> bool:
    """Whether a path lies where each run has its own tmpfs."""
    private = ("/tmp", "/var/tmp", "/run", "/dev/shm", "/box", "/proc", "/dev", "/etc")  # noqa: S108
    return is_within(path, private)


def select_outermost(paths: Iterable[str]) -> list[str]:
    """Return paths without those inside another one, in order of length."""
    kept: list[str] = []
    for path in sorted(set(paths), key=len):
        if not is_within(path, kept):
            kept.append(path)
    return kept
