"""What this machine gives a jail, feature by feature, found by trying; and which tier that makes.

In: the tier that is demanded. Out: an `Availability`. Namespaces are tried in processes of their own that end
at once; the last features are whole jails, built and taken down. Never changes anything of this process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from spanproof.sandbox import kernel
from spanproof.sandbox.backend import Availability, Feature
from spanproof.sandbox.backends.jail import reasons
from spanproof.sandbox.errors import SandboxError
from spanproof.sandbox.model import Tier
from spanproof.sandbox.supervisor.forkserver.host import Master
from spanproof.sandbox.supervisor.namespaces import cgroup
from spanproof.sandbox.supervisor.node import REMEDY, find_node
from spanproof.sandbox.supervisor.reduced import landlock
from spanproof.sandbox.supervisor.seccomp.syscalls import ARCHES, find_arch
from spanproof.sandbox.toolchains import TOOLCHAINS, select_toolchains

_TRY_NAMESPACES = (
    "import ctypes, sys; libc = ctypes.CDLL(None, use_errno=True);"
    "sys.exit(ctypes.get_errno() if libc.unshare(int(sys.argv[1])) else 0)"
)
_NAMESPACES = (
    ("user namespace", kernel.CLONE_NEWUSER),
    ("mount namespace", kernel.CLONE_NEWNS),
    ("pid namespace", kernel.CLONE_NEWPID),
    ("network namespace", kernel.CLONE_NEWNET),
    ("ipc namespace", kernel.CLONE_NEWIPC),
    ("uts namespace", kernel.CLONE_NEWUTS),
    ("cgroup namespace", kernel.CLONE_NEWCGROUP),
)
_LANDLOCK_REMEDY = (
    "Use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK and `landlock` in the kernel's lsm= list,"
    " and a container runtime whose profile knows it (Docker 23, containerd 1.7)."
)


_COUNTED_INSTEAD = (
    "not writable: memory of a whole process tree, with that of its sockets, pipes, epoll and page tables,"
    " is bounded by no kernel; it is counted every 50 ms, and a program over its limit ends then;"
    " what the kernel holds for mappings and for locks on parts of files is not counted"
)
_CONTROL_GROUPS_REMEDY = (
    "Run as root, or where systemd delegates a group with the memory controller to this user:"
    " systemd-run --user --scope -p Delegate=yes spanproof …"
)


def get_availability(demanded: Tier = Tier.FULL) -> Availability:
    """Probe the machine; takes a few tenths of a second.

    Features of the tier that is had are required; where none is, those of the weakest that would do.
    """
    platform_ = _build_platform_feature()
    if not platform_.present:
        return Availability("jail", (platform_,), None)
    shared, full, reduced = _list_shared_features(), _list_full_features(), _list_reduced_features()
    if _are_all_present(shared + full):
        whole = _build_rehearsal_feature(Tier.FULL)
    else:
        whole = None
    has_full = whole is not None and whole.present
    tier = Tier.FULL if has_full else None
    smaller = None
    if not has_full and _are_all_present(shared + reduced):
        smaller = _build_rehearsal_feature(Tier.REDUCED)
        if smaller.present and demanded is Tier.REDUCED:
            tier = Tier.REDUCED
    needed = tier or demanded
    features = (
        platform_,
        *shared,
        *(
            replace(feature, required=needed is Tier.FULL)
            for feature in (*full, whole)
            if feature is not None
        ),
        *(
            replace(feature, required=needed is Tier.REDUCED)
            for feature in (*reduced, smaller)
            if feature is not None
        ),
        _build_control_groups_feature(),
        _build_node_feature(),
        *_iter_toolchain_features(),
    )
    return Availability("jail", features, tier)


def list_minimal_features(tier: Tier = Tier.FULL) -> tuple[Feature, ...]:
    """Probe what no jail of this tier can do without; only `get_availability` tries the whole of it."""
    platform_ = _build_platform_feature()
    if not platform_.present:
        return (platform_,)
    return (
        platform_,
        *_list_shared_features(),
        *(_list_full_features() if tier is Tier.FULL else _list_reduced_features()),
    )


def _build_platform_feature() -> Feature:
    if sys.platform == "linux" and find_arch() is not None:
        return _build_feature("platform", f"Linux {platform.release()} on {platform.machine()}")
    architectures = ", ".join(ARCHES)
    here = f"this is {platform.system()} on {platform.machine()}"
    remedy = "Configure another backend."
    return _build_feature(
        "platform", f"the jail runs on Linux ({architectures}); {here}", remedy, present=False
    )


def _list_shared_features() -> tuple[Feature, ...]:
    """Probe what both tiers rest on."""
    return (_build_notification_feature(), _build_no_new_privs_feature())


def _list_full_features() -> tuple[Feature, ...]:
    base = 0 if os.geteuid() == 0 else kernel.CLONE_NEWUSER
    return (
        *(_build_namespace_feature(name, flag | base) for name, flag in _NAMESPACES),
        _build_call_feature("pidfd_getfd", _check_descriptor_fetch),
        _build_call_feature("process_vm_readv", _check_memory_read),
    )


def _list_reduced_features() -> tuple[Feature, ...]:
    return (_build_landlock_feature(),)


def _build_feature(
    name: str, detail: str, remedy: str = "", *, present: bool = True, required: bool = True
) -> Feature:
    return Feature(name=name, present=present, required=required, detail=detail, remedy=remedy)


def _are_all_present(features: tuple[Feature, ...]) -> bool:
    return all(feature.present for feature in features)


def _build_namespace_feature(name: str, flags: int) -> Feature:
    command = [sys.executable, "-I", "-S", "-c", _TRY_NAMESPACES, str(flags)]
    as_root = os.geteuid() == 0
    try:
        tried = subprocess.run(command, check=False, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return _build_feature(name, f"could not be tried: {problem}", reasons.CONTAINER_REMEDY, present=False)
    if tried.returncode == 0:
        return _build_feature(name, "as root" if as_root else "in a user namespace")
    filtered = reasons.is_filtered(Path("/proc/self/status").read_text())
    detail, remedy = reasons.get_refusal_reason(
        tried.returncode, as_root=as_root, filtered=filtered, sysctls=reasons.Sysctls.read()
    )
    return _build_feature(name, detail, remedy, present=False)


def _build_notification_feature() -> Feature:
    name = "seccomp user notification"
    try:
        present = kernel.has_user_notification()
    except OSError as problem:
        return _build_feature(name, str(problem), present=False)
    if present:
        return _build_feature(name, "the kernel reports attempts")
    return _build_feature(
        name, "not known here", "Use Linux 5.19 or newer with CONFIG_SECCOMP_FILTER.", present=False
    )


def _build_no_new_privs_feature() -> Feature:
    name = "no_new_privs"
    try:
        present = "NoNewPrivs:" in Path("/proc/self/status").read_text()
    except OSError as problem:
        return _build_feature(name, str(problem), "Mount /proc.", present=False)
    remedy = "" if present else "Use Linux 4.10 or newer."
    return _build_feature(name, "no exec can gain a privilege", remedy, present=present)


def _build_call_feature(name: str, attempt: Callable[[], None]) -> Feature:
    """Try a call on this process that the full tier makes on processes of its own."""
    try:
        attempt()
    except OSError as problem:
        reason = f"{os.strerror(problem.errno or errno.EPERM)}; a seccomp profile or the kernel lacks it"
        return _build_feature(name, reason, reasons.CONTAINER_REMEDY, present=False)
    return _build_feature(name, "the supervisor can look into its guest")


def _check_descriptor_fetch() -> None:
    reading, writing = os.pipe()
    own = os.pidfd_open(os.getpid())
    try:
        os.close(kernel.fetch_descriptor(own, reading))
    finally:
        for fd in (reading, writing, own):
            os.close(fd)


def _check_memory_read() -> None:
    buffer = ctypes.create_string_buffer(b"seen")
    kernel.read_memory(os.getpid(), ctypes.addressof(buffer), 4)


def _build_landlock_feature() -> Feature:
    version = landlock.get_abi()
    if version == 0:
        return _build_feature(
            "landlock", "this kernel, or a container's profile, has none", _LANDLOCK_REMEDY, present=False
        )
    lacking = ", ".join(landlock.list_missing(version))
    detail = f"ABI {version}" + (
        f"; without {lacking}, which the supervisor bounds itself" if lacking else ""
    )
    return _build_feature("landlock", detail)


def _build_rehearsal_feature(tier: Tier) -> Feature:
    """Rehearse a jail from beginning to end: what single features cannot show."""
    name = f"a jail of the {tier} tier"
    try:
        master = Master(tier=tier)
        try:
            master.start_supervisor().close()
        finally:
            master.close()
    except (SandboxError, OSError) as problem:
        remedy = reasons.describe_jail_remedy(
            str(problem), as_root=os.geteuid() == 0, sysctls=reasons.Sysctls.read()
        )
        return _build_feature(name, str(problem), remedy if tier is Tier.FULL else "", present=False)
    held = {
        Tier.FULL: "built and armed: read-only root, own /proc, filter installed",
        Tier.REDUCED: "built and armed: Landlock, own directory, filter installed",
    }
    return _build_feature(name, held[tier])


def _build_control_groups_feature() -> Feature:
    name = "control groups"
    base = cgroup.find_base(os.getpid())
    if base is None:
        return _build_feature(name, _COUNTED_INSTEAD, _CONTROL_GROUPS_REMEDY, present=False, required=False)
    cgroup.remove_stale_groups(base.paths)
    base.close()
    detail = f"version {base.version}; memory, the kernel's included, bounded under {base.paths[0]}"
    return _build_feature(name, detail, required=False)


def _build_node_feature() -> Feature:
    found = find_node()
    if found is None:
        return _build_feature("javascript", "no node", REMEDY, present=False, required=False)
    detail = f"{', '.join(sorted(found.languages))} by {found.path}"
    return _build_feature("javascript", detail, required=False)


def _iter_toolchain_features() -> Iterator[Feature]:
    """Yield the languages that a toolchain of this machine runs, each with what it needs if not here."""
    found = select_toolchains()
    for name, toolchain in sorted(TOOLCHAINS.items()):
        tools = " and ".join(toolchain.tools)
        if name in found:
            yield _build_feature(name, f"by {tools}", required=False)
        else:
            remedy = f"Put {tools} under /usr; Debian has it in {toolchain.package}."
            yield _build_feature(name, f"no {tools}", remedy, present=False, required=False)
