"""Podman as an unprivileged user runs it, for `tests/hostile/table.py`: its service, and an image.

`running(directory)` gives what `docker_daemon` gives. The user is `nobody`, who gets a range of users in an
/etc/subuid of a mount namespace of its own. Control groups of version 2 are needed for podman's limits;
where there are others, the bounds of memory and processes are the supervisor's alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from docker_daemon import IMAGE, DockerDaemon, write_image
from waiting import becomes

UNPRIVILEGED = 65534


@contextmanager
def running(directory: Path) -> Iterator[DockerDaemon]:
    """The service, while this is open."""
    home = directory / "home"
    home.mkdir()
    archive = directory / "image.tar"
    write_image(archive)
    directory.chmod(0o755)
    os.chown(home, UNPRIVILEGED, UNPRIVILEGED)
    ranges = directory / "ranges"
    ranges.write_text("nobody:100000:65536\n")
    environment = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": os.environ["PATH"]}
    podman = _command(home, ranges)
    imported = subprocess.run(
        [*podman, "import", str(archive), IMAGE], capture_output=True, text=True, check=False, env=environment
    )
    if imported.returncode != 0:
        sys.exit(f"rootless podman cannot import an image here: {imported.stderr.strip()}")
    address = home / "podman.sock"
    service = subprocess.Popen(
        [*podman, "system", "service", "--time=0", f"unix://{address}"], env=environment
    )
    try:
        becomes(lambda: address.is_socket() or service.poll() is not None)
        yield DockerDaemon(f"unix://{address}", IMAGE)
    finally:
        service.kill()
        service.wait()


def _command(home: Path, ranges: Path) -> list[str]:
    """Podman as a user without rights, under a process 1 of root's that ends with us, and all below it."""
    mounts = f"mount --bind {ranges} /etc/subuid && mount --bind {ranges} /etc/subgid"
    return [
        *["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"],
        f'{mounts} && cd {home} && "$@"',
        "sh",
        *f"setpriv --reuid={UNPRIVILEGED} --regid={UNPRIVILEGED} --clear-groups".split(),
        *[
            "podman",
            "--cgroup-manager=cgroupfs",
            "--events-backend=file",
            "--storage-driver=vfs",
            "--runtime=runc",
        ],
    ]
