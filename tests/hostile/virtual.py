"""The jail's promises elsewhere: on aarch64, emulated, with control groups of version 2.

Usage, as root on Debian: `python tests/hostile/virtual.py [DIRECTORY]`. It needs qemu-system-arm, cpio,
apt and dpkg. Debian's kernel and Python for arm64 are downloaded into the directory and unpacked, never
installed, by lists of packages of its own; the machine has no network and no disk. It takes ten minutes for
the promises and an hour for the hostile programs, for every instruction is emulated. Prints what it found;
exit code 1 where a promise is not kept or a program is not contained.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from machine import SECRET, Machine, exposed
from reduced_differences import DIFFERENCES
from snippets import HOSTILE

from spanproof.sandbox import Fixtures, Limits, Program, Sandbox, SandboxError
from spanproof.sandbox.backends.self_check.promises import iter_findings
from spanproof.sandbox.har import read_exchanges
from spanproof.sandbox.registry import check_availability, open_sandbox

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "sandbox" / "spanproof"
CALL_BY_NUMBER = "libc.syscall"
"""Programs that make calls by x86-64's numbers mean other calls here; the filter's own tests hold them."""
KERNEL = "linux-image-cloud-arm64"
PACKAGES = """
    bash busybox-static coreutils libacl1 libattr1 libbz2-1.0 libc6 libcrypt1 libexpat1 libffi8
    libgcc-s1 libgmp10 liblzma5 libpcre2-8-0 libpython3.11-minimal libpython3.11-stdlib libselinux1
    libsqlite3-0 libssl3 libtinfo6 libuuid1 python3.11-minimal zlib1g
    python3-cryptography python3-cffi-backend
"""
FOR_ANY_MACHINE = ("python3-idna", "python3-trustme")
INIT = """#!/usr/bin/busybox sh
b=/usr/bin/busybox
if [ "$1" != again ]; then  # no root can be put in the place of the first one: move to another
    $b mkdir /new && $b mount -t tmpfs -o size=90% tmpfs /new
    for d in bin sbin lib usr etc root srv init; do $b cp -a /$d /new/; done
    $b mkdir -p /new/proc /new/sys /new/dev /new/tmp
    exec $b switch_root /new /init again
fi
$b mount -t proc proc /proc && $b mount -t sysfs sysfs /sys && $b mount -t devtmpfs dev /dev
$b mount -t cgroup2 none /sys/fs/cgroup && $b mkdir -p /dev/shm && $b mount -t tmpfs tmpfs /dev/shm
$b chmod 1777 /tmp && $b ifconfig lo 127.0.0.1
export PYTHONPATH=/srv:/usr/lib/python3/dist-packages PATH=/usr/bin PYTHONDONTWRITEBYTECODE=1 HOME=/root
vm="/usr/bin/python3 /srv/hostile/virtual.py vm"
for part in promises hostile; do
    $vm $part full 2>&1
    /usr/bin/python3 /srv/hostile/unprivileged.py $vm $part full 2>&1
    for user in root user; do /usr/bin/python3 /srv/hostile/container.py $user $vm $part reduced 2>&1; done
done
echo all-done
$b poweroff -f
"""


def in_the_machine(part: str, tier: str) -> None:
    """Check every promise there, or run the hostile programs."""
    settings = {"tier": tier}
    print("==", part, "in the", tier, "tier, user", os.getuid(), "on", *os.uname()[2::2], flush=True)
    with open_sandbox("jail", workers=2, settings=settings) as sandbox:
        print("runs in the", sandbox.run(Program("python", "1")).tier, "tier", flush=True)
        if part == "hostile":
            _run_all_hostile(sandbox)
            return
        for feature in check_availability("jail", settings).features:
            detail = feature.detail if feature.present else "missing"
            print("feature", feature.name, detail, sep=": ", flush=True)
        for finding in iter_findings(sandbox):
            print(finding.outcome, finding.name, finding.detail, sep=": ", flush=True)


def _run_all_hostile(sandbox: Sandbox) -> None:
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(2) as pool:
        Path(directory).chmod(0o755)
        with exposed(Path(directory)) as around:
            chosen = [one for one in HOSTILE if CALL_BY_NUMBER not in one.source]
            for line in pool.map(partial(_run_hostile, sandbox, around), chosen):
                print(line, flush=True)
            if changes := around.changes():
                print("escaped: to this machine:", changes, flush=True)


def _run_hostile(sandbox: Sandbox, around: Machine, snippet: Any) -> str:
    """Whether a program is contained, as a line: by what it printed."""
    limits = Limits(wall_s=snippet.timeout_s, cpu_s=snippet.timeout_s)
    calls = read_exchanges(snippet.recorded, snippet.name) if snippet.recorded else ()
    source = around.filled(snippet.source, os.getpid())
    try:
        fixtures, tests = Fixtures(http=calls), snippet.tests
        program = Program(snippet.language, source, tests=tests, limits=limits, fixtures=fixtures)
        execution = sandbox.run(program)
    except SandboxError as problem:
        return f"escaped: {snippet.name}: {problem}"
    accepted = DIFFERENCES[snippet.name].prints if snippet.name in DIFFERENCES else ""
    printed = execution.stdout.replace(accepted, "") if accepted else execution.stdout
    held = "BREACH" not in printed and SECRET not in printed + execution.stderr
    return f"{'contained' if held else 'escaped'}: {snippet.name}: {execution.failure_class}" + (
        "" if held else f" {printed[:200]!r}"
    )


def main() -> None:
    """Make the machine and boot it."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(sys.argv[1] if len(sys.argv) > 1 else made)
        root, kernel = _unpacked(place)
        memory = place / "initrd"
        names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
        with memory.open("wb") as file:
            subprocess.run(
                ["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names, stdout=file, check=True
            )
        machine = [
            "qemu-system-aarch64",
            "-M",
            "virt",
            "-cpu",
            "max,pauth-impdef=on",
            "-smp",
            "2",
            "-m",
            "1500",
        ]
        machine += [
            "-nographic",
            "-no-reboot",
            "-nic",
            "none",
            "-kernel",
            str(kernel),
            "-initrd",
            str(memory),
        ]
        machine += ["-append", "console=ttyAMA0 rdinit=/init panic=-1 loglevel=3"]
        on_record = ""
        with subprocess.Popen(
            machine, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout is not None
            for line in running.stdout:
                print(line, end="", flush=True)
                on_record += line
        words = ("kept", "broken", "contained", "escaped")
        count = {word: len(re.findall(f"^{word}: ", on_record, re.MULTILINE)) for word in words}
        print(", ".join(f"{number} {word}" for word, number in count.items()))
        failed = count["broken"] or count["escaped"] or not (count["kept"] and count["contained"])
        sys.exit(bool(failed) or "all-done" not in on_record)


def _apt_of_its_own(place: Path) -> dict[str, str]:
    """Variables by which apt knows arm64's packages, and this machine's own does not change."""
    for name in ("apt/lists/partial", "apt/cache/archives/partial"):
        (place / name).mkdir(parents=True, exist_ok=True)
    words = f"""
        APT::Architectures {{ "arm64"; "amd64"; }};
        Dir::State::lists "{place}/apt/lists";
        Dir::Cache "{place}/apt/cache";
        APT::Sandbox::User "root";
    """
    (place / "apt/apt.conf").write_text(words)
    environment = {**os.environ, "APT_CONFIG": f"{place}/apt/apt.conf"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=environment)
    return environment


def _unpacked(place: Path) -> tuple[Path, Path]:
    """A root file system with what the jail needs, and a kernel."""
    archives, root, boot = place / "archives", place / "root", place / "kernel"
    archives.mkdir(parents=True, exist_ok=True)
    environment = _apt_of_its_own(place)
    shown = subprocess.run(
        ["apt-cache", "depends", f"{KERNEL}:arm64"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    kernel = re.findall(r"Depends: (linux-image\S+)", shown.stdout)[0]
    names = [kernel, *(f"{name}:arm64" for name in PACKAGES.split()), *FOR_ANY_MACHINE]
    subprocess.run(["apt-get", "download", "-qq", *names], cwd=archives, check=True, env=environment)
    for archive in archives.glob("*.deb"):
        subprocess.run(
            ["dpkg", "-x", str(archive), str(boot if archive.name.startswith("linux") else root)], check=True
        )
    for name in ("bin", "sbin", "lib"):
        if not (root / name).is_symlink():
            (root / "usr" / name).mkdir(exist_ok=True)
            if (root / name).exists():
                shutil.copytree(root / name, root / "usr" / name, symlinks=True, dirs_exist_ok=True)
                shutil.rmtree(root / name)
            (root / name).symlink_to(f"usr/{name}")
    for name in ("etc", "root", "srv"):
        (root / name).mkdir(exist_ok=True)
    (root / "usr/bin/python3").unlink(missing_ok=True)
    (root / "usr/bin/python3").symlink_to("python3.11")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/shadow").write_text("root:*:1::::::\n")
    shutil.copytree(SOURCES, root / "srv/spanproof", dirs_exist_ok=True)
    shutil.copytree(HERE, root / "srv/hostile", dirs_exist_ok=True)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    return root, next(boot.glob("boot/vmlinuz*"))


if __name__ == "__main__":
    in_the_machine(*sys.argv[2:]) if sys.argv[1:2] == ["vm"] else main()
