"""A real Docker daemon for the tests, with an image made of this machine's own interpreter.

`docker_daemon` (session) gives its socket and the image's name. All workers of one pytest run share one
daemon: each holds a shared lock while it needs it, and the reaper, which started the daemon, ends it and
removes what it wrote when no process holds the lock any more, however the workers ended. The reaper is
process 1 of a process and a mount namespace: whatever ends it, all processes and mounts of the daemon end
with it; files it could not remove then are removed by the next reaper. A machine without dockerd fails.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
from component_marks import require_mark

if TYPE_CHECKING:
    from docker import APIClient

IMAGE = "spanproof-test:latest"
OTHER_RUNTIME, FALSE_GVISOR = "runc-by-another-name", "runc-called-gvisor"
PLACE = "spanproof-docker-"
"""How the name of a daemon's directory begins, which is that of its control groups too."""
_HANGS_S = 600.0
_PROGRAMS = (
    "awk bash sh cat chmod cp curl dd echo env false find grep head id ls mkdir mount mv readlink rm sed"
    " sleep sort tail touch tr true uname wc yes"
)
_CLIENTS = "requests urllib3 charset_normalizer certifi idna httpx httpcore h11 anyio sniffio".split()  # noqa: SIM905
_PACKAGES = (
    "numpy",
    "numpy.libs",
    "pandas",
    "dateutil",
    "pip",
    "pytz",
    "six.py",
    "tzdata",
    *_CLIENTS,
    "typing_extensions.py",
)
_LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "turtledemo", "tkinter", "site-packages"}


@dataclass(frozen=True)
class DockerDaemon:
    """Where it listens, as an address, and what can be run."""

    host: str
    image: str


@pytest.fixture(scope="session")
def docker_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerDaemon]:
    """A daemon of this test run's own."""
    base = tmp_path_factory.getbasetemp()
    with running(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as daemon:
        yield daemon


@contextlib.contextmanager
def running(shared: Path) -> Iterator[DockerDaemon]:
    """The daemon of all who share a directory, while this is open."""
    require_mark("docker")
    with (shared / "dockerd.users").open("a") as users, (shared / "dockerd.start").open("a") as starting:
        # The reaper waits for every shared lock to go: ours is there before we look whether anything runs, as
        # one that has seen none will end its daemon, and before anything is started.
        fcntl.flock(starting, fcntl.LOCK_EX)
        fcntl.flock(users, fcntl.LOCK_SH)
        state = _running(shared) or _started(shared)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield DockerDaemon(**state)


def _running(shared: Path) -> dict[str, str] | None:
    try:
        state: dict[str, str] = json.loads((shared / "dockerd.json").read_text())
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(state["host"].removeprefix("unix://"))
    except (OSError, ValueError):
        return None
    return state


def _started(shared: Path) -> dict[str, str]:
    reaper = start_reaper(shared)
    deadline = time.monotonic() + _HANGS_S
    while (state := _running(shared)) is None:
        if reaper.poll() is not None or time.monotonic() > deadline:
            log = (shared / "dockerd.log").read_text(errors="replace")
            pytest.fail(f"dockerd did not start:\n{log[-3000:]}")
        time.sleep(0.05)
    return state


def start_reaper(shared: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start `keep` as process 1 of its namespaces, which end with it, and it with the process returned."""
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        pytest.fail("the docker tests need dockerd and root: apt-get install docker.io; or: -m 'not docker'")
    command = [
        "unshare",
        "--mount",
        "--propagation=private",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]
    with (shared / "dockerd.log").open("wb") as log:
        return subprocess.Popen(
            [*command, sys.executable, __file__, str(shared), *options],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def keep(shared: Path, *, image: bool = True) -> None:
    """Run the daemon until no process uses it; then end it and remove everything of it."""
    remove_leftovers()
    place, held = _own_place()
    address = f"unix://{place}/docker.sock"
    own = f"--data-root={place}/data --exec-root={place}/exec --pidfile={place}/pid --host={address}"
    plain = f"--bridge=none --iptables=false --ip6tables=false --cgroup-parent=/{place.name}"
    runtimes = [f"--add-runtime=runsc={found}"] if (found := _runsc(place)) else []
    runtimes += [f"--add-runtime={name}={shutil.which('runc')}" for name in (OTHER_RUNTIME, FALSE_GVISOR)]
    daemon = subprocess.Popen(["dockerd", *own.split(), *plain.split(), *runtimes])
    try:
        _answers(address).close()
        if image:
            _import_image(address, place)
        written = shared / "dockerd.json.new"
        written.write_text(json.dumps({"host": address, "image": IMAGE}))
        written.replace(shared / "dockerd.json")
        with (shared / "dockerd.users").open("a") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            (shared / "dockerd.json").unlink(missing_ok=True)
    finally:
        daemon.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            daemon.wait(20)
        _end_all()
        _unmount(place)
        os.close(held)
        _remove(place)


def _end_all() -> None:
    """Every process of the namespace but this one, shims and containers too."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(-1, signal.SIGKILL)
        while True:
            os.wait()


def _own_place() -> tuple[Path, int]:
    """A new directory, and what holds it."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=PLACE))
        with contextlib.suppress(OSError):  # another reaper took it for a leftover before it was locked
            return place, _locked(place)


def _locked(place: Path) -> int:
    """Held while its reaper lives.

    Raises:
        BlockingIOError: somebody else's reaper lives.
        FileNotFoundError: it has been removed.
    """
    held = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        place.stat()
    except OSError:
        os.close(held)
        raise
    return held


def remove_leftovers() -> None:
    """Of reapers that were killed: their processes and mounts have ended with them."""
    for place in Path(tempfile.gettempdir()).glob(f"{PLACE}*"):
        with contextlib.suppress(OSError):
            held = _locked(place)
            _remove(place)
            os.close(held)


def _remove(place: Path) -> None:
    for group in control_groups(place.name):
        for path in sorted((group, *group.rglob("*/")), reverse=True):
            with contextlib.suppress(OSError):
                path.rmdir()
    shutil.rmtree(place, ignore_errors=True)


def control_groups(name: str) -> list[Path]:
    """Those of a daemon, by its directory's name."""
    top = Path("/sys/fs/cgroup")
    return [*top.glob(f"*/{name}"), *top.glob(name)]


def _runsc(place: Path) -> str | None:
    """A wrapper of gVisor's runtime that needs nothing this machine may lack."""
    found = shutil.which("runsc")
    if found is None:
        return None
    wrapper = place / "runsc"
    wrapper.write_text(f'#!/bin/sh\nexec {found} --network=none "$@"\n')
    wrapper.chmod(0o755)
    return str(wrapper)


def _unmount(place: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((one for one in mounts if one.startswith(f"{place}/")), key=len, reverse=True):
        subprocess.run(["umount", "-l", mount], check=False)


def _answers(address: str) -> APIClient:
    """Wait for the daemon's first answer."""
    from docker import APIClient
    from docker.errors import DockerException

    deadline = time.monotonic() + _HANGS_S
    while True:
        try:
            return APIClient(base_url=address, version="auto")
        except DockerException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _import_image(address: str, place: Path) -> None:
    archive = place / "image.tar"
    write_image(archive)
    client = _answers(address)
    repository, tag = IMAGE.split(":")
    path = "ENV PATH=/usr/local/bin:/usr/bin:/bin"
    reported = client.import_image_from_file(str(archive), repository=repository, tag=tag, changes=[path])
    if '"error"' in reported:
        raise RuntimeError(f"the test image cannot be imported: {reported}")
    client.close()
    archive.unlink()


def write_image(
    archive: Path,
    *,
    programs: Sequence[str] = (),
    packages: Sequence[str] = (),
    trees: Mapping[str, Path] = MappingProxyType({}),
) -> None:
    """A small root file system, as `docker import` takes it, in which `python3` is this interpreter.

    Args:
        programs, packages: beside those that every image has.
        trees: directories to copy, by their place in the image.
    """
    with tarfile.open(archive, "w") as tar:
        _fill(tar, [*_PROGRAMS.split(), *programs], [*_PACKAGES, *packages])
        for place, source in trees.items():
            _tree(tar, source, place, skip=set())


def _fill(tar: tarfile.TarFile, names: Sequence[str], packages: Sequence[str]) -> None:
    """A root file system: this interpreter, packages, and a few programs."""
    python = Path(
        sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"
    ).resolve()
    library = Path(
        sysconfig.get_path("stdlib", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix})
    )
    programs = [Path(found).resolve() for name in names if (found := shutil.which(name))]
    modules = list((library / "lib-dynload").glob("*.so"))
    installed = Path(sysconfig.get_path("purelib"))
    for name in ("tmp", "proc", "dev", "sys", "etc", "root"):
        _directory(tar, name, 0o1777 if name == "tmp" else 0o755)
    for directory in ("usr/bin", "usr/lib", "usr/lib64", "usr/local/bin"):
        _directory(tar, directory)
    for name in ("bin", "lib", "lib64"):
        _link(tar, name, f"usr/{name}")
    for name in names:
        if found := shutil.which(name):
            tar.add(Path(found).resolve(), f"usr/bin/{name}", filter=_plain)
    _tree(tar, library, str(library), skip=_LEFT_OUT)
    for name in packages:
        if (installed / name).exists():
            _tree(tar, installed / name, f"{library}/site-packages/{name}", skip={"tests"})
    tar.add(python, str(python), filter=_plain)
    for name in ("python3", "python"):
        _link(tar, f"usr/local/bin/{name}", str(python))
    shared = [found for name in packages for found in (installed / name).rglob("*.so")]
    for path in sorted(_libraries([python, *programs, *modules, *shared])):
        if path.startswith(f"{installed}/"):
            continue  # a package brings it, and finds it beside itself
        tar.add(Path(path).resolve(), path, filter=_plain)
    tar.add(installed / "certifi/cacert.pem", "etc/ssl/certs/ca-certificates.crt", filter=_plain)
    _text(tar, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
    _text(tar, "etc/group", "root:x:0:\n")
    _text(tar, "etc/shadow", "root:*:1:0:99999:7:::\n", 0o600)


def _libraries(binaries: Iterable[Path]) -> set[str]:
    reported = subprocess.run(
        ["ldd", *map(str, binaries)], check=False, capture_output=True, text=True
    ).stdout
    return set(re.findall(r"(?:=> |^\t)(/.+) \(0x", reported, re.MULTILINE))  # a path may have spaces


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Root's, and readable by everyone, wherever it comes from."""
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mode |= 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def _tree(tar: tarfile.TarFile, source: Path, place: str, skip: set[str]) -> None:
    def chosen(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        inner = member.name.removeprefix(place.lstrip("/"))
        return None if skip & set(inner.split("/")) else _plain(member)

    tar.add(source, place, filter=chosen)


def _directory(tar: tarfile.TarFile, name: str, mode: int = 0o755) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.mode = tarfile.DIRTYPE, mode
    tar.addfile(member)


def _link(tar: tarfile.TarFile, name: str, target: str) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    tar.addfile(member)


def _text(tar: tarfile.TarFile, name: str, text: str, mode: int = 0o644) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(text), mode
    tar.addfile(member, io.BytesIO(text.encode()))


if __name__ == "__main__":
    keep(Path(sys.argv[1]), image="--no-image" not in sys.argv)
