"""What this machine gives a jail, feature by feature, found by trying.

In: nothing. Out: an `Availability`. Namespaces are tried in processes of their own that end at once; the last
feature is a whole jail, built and taken down. Never changes anything of this process.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

from spanproof.sandbox.backend import Availability, Feature
from spanproof.sandbox.errors import SandboxError
from spanproof.sandbox.jail import cgroup, kernel
from spanproof.sandbox.jail.arch import ARCHES, this_arch
from spanproof.sandbox.jail.host import Master
from spanproof.sandbox.jail.node import REMEDY, find_node

_TRY_NAMESPACES = (
    "import ctypes, sys; libc = ctypes.CDLL(None, use_errno=True);"
    "sys.exit(ctypes.get_errno() if libc.unshare(int(sys.argv[1])) else 0)"
)
_USER_REMEDY = (
    "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1,"
    " user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0), or run as root; in"
    " Docker use --security-opt seccomp=unconfined --security-opt systempaths=unconfined."
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


def availability() -> Availability:
    """Probe the machine; takes a few tenths of a second."""
    minimum = minimal_features()
    if any(feature.required and not feature.present for feature in minimum):
        return Availability("jail", minimum)
    return Availability("jail", (*minimum, _rehearsal(), _control_groups(), _node()))


def minimal_features() -> tuple[Feature, ...]:
    """What no jail can do without; the whole of it is tried only by `availability`."""
    if sys.platform != "linux" or this_arch() is None:
        known = ", ".join(ARCHES)
        here = f"this is {platform.system()} on {platform.machine()}"
        remedy = "Configure another backend."
        return (_required("platform", f"the jail runs on Linux ({known}); {here}", remedy, present=False),)
    base = 0 if os.geteuid() == 0 else kernel.CLONE_NEWUSER
    return (
        _required("platform", f"Linux {platform.release()} on {platform.machine()}"),
        *(_namespace(name, flag | base) for name, flag in _NAMESPACES),
        _notification(),
        _no_new_privs(),
    )


def _required(name: str, detail: str, remedy: str = "", *, present: bool = True) -> Feature:
    return Feature(name=name, present=present, required=True, detail=detail, remedy=remedy)


def _namespace(name: str, flags: int) -> Feature:
    command = [sys.executable, "-I", "-S", "-c", _TRY_NAMESPACES, str(flags)]
    try:
        tried = subprocess.run(command, check=False, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return _required(name, f"could not be tried: {problem}", _USER_REMEDY, present=False)
    if tried.returncode == 0:
        return _required(name, "as root" if os.geteuid() == 0 else "in a user namespace")
    return _required(name, f"unshare: {os.strerror(tried.returncode)}", _USER_REMEDY, present=False)


def _notification() -> Feature:
    name = "seccomp user notification"
    try:
        present = kernel.notification_available()
    except OSError as problem:
        return _required(name, str(problem), present=False)
    if present:
        return _required(name, "attempts are told by the kernel")
    return _required(
        name, "not known here", "Use Linux 5.19 or newer with CONFIG_SECCOMP_FILTER.", present=False
    )


def _no_new_privs() -> Feature:
    name = "no_new_privs"
    try:
        present = "NoNewPrivs:" in Path("/proc/self/status").read_text()
    except OSError as problem:
        return _required(name, str(problem), "Mount /proc.", present=False)
    remedy = "" if present else "Use Linux 4.10 or newer."
    return _required(name, "no exec can gain a privilege", remedy, present=present)


def _rehearsal() -> Feature:
    """A jail from beginning to end: what single features cannot tell."""
    name = "a jail, built and armed"
    try:
        master = Master()
        try:
            master.slot().close()
        finally:
            master.close()
    except (SandboxError, OSError) as problem:
        return _required(name, str(problem), _USER_REMEDY, present=False)
    return _required(name, "read-only root, own /proc, filter installed")


def _control_groups() -> Feature:
    name = "control groups"
    base = cgroup.find_base(os.getpid())
    if base is None:
        detail = "not writable: a meter that looks every 50 ms bounds the memory of the whole tree instead"
        remedy = "Run as root, or delegate a cgroup with the memory controller to this user (Delegate=yes)."
        return Feature(name=name, present=False, required=False, detail=detail, remedy=remedy)
    cgroup.sweep(base.paths)
    return Feature(name=name, present=True, required=False, detail=f"memory bounded under {base.paths[0]}")


def _node() -> Feature:
    name = "javascript"
    found = find_node()
    if found is None:
        return Feature(name=name, present=False, required=False, detail="no node", remedy=REMEDY)
    detail = f"{', '.join(sorted(found.languages))} by {found.path}"
    return Feature(name=name, present=True, required=False, detail=detail)
