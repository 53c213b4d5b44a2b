"""A real Docker daemon for the tests, with an image made of this machine's own interpreter.

`docker_daemon` (session) gives its socket and the image's name. All workers of one pytest run share one
daemon: each holds a shared lock while it needs it, and the keeper process, which started the daemon, ends it
and removes what it wrote when nobody holds the lock any more, however the workers ended. A machine without
dockerd fails.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

IMAGE = "spanproof-test:latest"
PLACE = "spanproof-dockerd-"
"""How the name of a daemon's directory begins, in which all its mounts are."""
_START_S = 60.0
_PROGRAMS = (
    "bash sh cat chmod cp dd echo env false grep head id ls mkdir mount mv readlink rm sed sleep sort tail"
    " touch true uname wc yes"
)
_PACKAGES = ("numpy", "numpy.libs", "pandas", "dateutil", "pytz", "six.py", "tzdata")
_LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "turtledemo", "tkinter", "site-packages"}


@dataclass(frozen=True)
class DockerDaemon:
    """Where it listens, as an address, and what can be run."""

    host: str
    image: str


@pytest.fixture(scope="session")
def docker_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerDaemon]:
    """A daemon of this test run's own."""
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        pytest.fail("the docker tests need dockerd and root: apt-get install docker.io")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "dockerd.users").open("a") as users, (shared / "dockerd.start").open("a") as starting:
        # The keeper waits for every shared lock to go: ours is there before anything is started.
        fcntl.flock(starting, fcntl.LOCK_EX)
        state = _running(shared)
        if state is None:
            fcntl.flock(users, fcntl.LOCK_SH)
            state = _started(shared)
        fcntl.flock(users, fcntl.LOCK_SH)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield DockerDaemon(**state)


def _running(shared: Path) -> dict[str, str] | None:
    try:
        state: dict[str, str] = json.loads((shared / "dockerd.json").read_text())
    except (OSError, ValueError):
        return None
    return state if Path(state["host"].removeprefix("unix://")).is_socket() else None


def _started(shared: Path) -> dict[str, str]:
    log = shared / "dockerd.log"
    with log.open("wb") as output:
        keeper = subprocess.Popen(
            [sys.executable, __file__, str(shared)], stdout=output, stderr=output, start_new_session=True
        )
    deadline = time.monotonic() + _START_S
    while (state := _running(shared)) is None:
        if keeper.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"dockerd did not start:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.05)
    return state


def keep(shared: Path) -> None:
    """Run the daemon until nobody uses it; then end it and remove everything of it."""
    place = Path(tempfile.mkdtemp(prefix=PLACE))
    address = f"unix://{place}/docker.sock"
    own = f"--data-root={place}/data --exec-root={place}/exec --pidfile={place}/pid --host={address}"
    plain = "--bridge=none --iptables=false --ip6tables=false"
    runtimes = [f"--add-runtime=runsc={found}"] if (found := _runsc(place)) else []
    daemon = subprocess.Popen(["dockerd", *own.split(), *plain.split(), *runtimes])
    try:
        _import_image(address, place)
        (shared / "dockerd.json").write_text(json.dumps({"host": address, "image": IMAGE}))
        with (shared / "dockerd.users").open("a") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            (shared / "dockerd.json").unlink()
    finally:
        daemon.send_signal(signal.SIGTERM)
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
        _unmount(place)
        shutil.rmtree(place, ignore_errors=True)


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


def _import_image(address: str, place: Path) -> None:
    from docker import APIClient
    from docker.errors import DockerException

    archive = place / "image.tar"
    write_image(archive)
    deadline = time.monotonic() + _START_S
    while True:
        try:
            client = APIClient(base_url=address, version="auto")
            break
        except DockerException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    repository, tag = IMAGE.split(":")
    path = "ENV PATH=/usr/local/bin:/usr/bin:/bin"
    told = client.import_image_from_file(str(archive), repository=repository, tag=tag, changes=[path])
    if '"error"' in told:
        raise RuntimeError(f"the test image cannot be imported: {told}")
    client.close()
    archive.unlink()


def write_image(archive: Path) -> None:
    """A small root file system, as `docker import` takes it, in which `python3` is this interpreter."""
    with tarfile.open(archive, "w") as tar:
        _fill(tar)


def _fill(tar: tarfile.TarFile) -> None:
    """A root file system: this interpreter, the packages of the tests, and a few programs."""
    python = Path(
        sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"
    ).resolve()
    library = Path(
        sysconfig.get_path("stdlib", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix})
    )
    programs = [Path(found).resolve() for name in _PROGRAMS.split() if (found := shutil.which(name))]
    modules = list((library / "lib-dynload").glob("*.so"))
    installed = Path(sysconfig.get_path("purelib"))
    for name in ("tmp", "proc", "dev", "sys", "etc", "root"):
        _directory(tar, name, 0o1777 if name == "tmp" else 0o755)
    for directory in ("usr/bin", "usr/lib", "usr/lib64", "usr/local/bin"):
        _directory(tar, directory)
    for name in ("bin", "lib", "lib64"):
        _link(tar, name, f"usr/{name}")
    for name in _PROGRAMS.split():
        if found := shutil.which(name):
            tar.add(Path(found).resolve(), f"usr/bin/{name}", filter=_plain)
    _tree(tar, library, str(library), skip=_LEFT_OUT)
    for name in _PACKAGES:
        if (installed / name).exists():
            _tree(tar, installed / name, f"{library}/site-packages/{name}", skip={"tests"})
    tar.add(python, str(python), filter=_plain)
    _link(tar, "usr/local/bin/python3", str(python))
    shared = [found for name in _PACKAGES for found in (installed / name).rglob("*.so")]
    for path in sorted(_libraries([python, *programs, *modules, *shared])):
        if path.startswith(f"{installed}/"):
            continue  # a package brings it, and finds it beside itself
        tar.add(Path(path).resolve(), path, filter=_plain)
    _text(tar, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
    _text(tar, "etc/group", "root:x:0:\n")
    _text(tar, "etc/shadow", "root:*:1:0:99999:7:::\n", 0o600)


def _libraries(binaries: Iterable[Path]) -> set[str]:
    told = subprocess.run(["ldd", *map(str, binaries)], check=False, capture_output=True, text=True).stdout
    return set(re.findall(r"(/\S+) \(0x", told))


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
    keep(Path(sys.argv[1]))
