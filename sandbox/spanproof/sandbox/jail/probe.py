"""What this machine gives a jail, feature by feature, found by trying.

In: nothing. Out: an `Availability`. Each namespace is tried in a process of its own that ends at once; never
changes anything of this process.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

from spanproof.sandbox.backend import Availability, Feature
from spanproof.sandbox.jail import kernel
from spanproof.sandbox.jail.arch import ARCHES, this_arch

_TRY_NAMESPACES = (
    "import ctypes, sys; libc = ctypes.CDLL(None, use_errno=True);"
    "sys.exit(ctypes.get_errno() if libc.unshare(int(sys.argv[1])) else 0)"
)
_USER_REMEDY = (
    "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1,"
    " user.max_user_namespaces>0, kernel.apparmor_restrict_unprivileged_userns=0), or run as root; in Docker,"
    " use --security-opt seccomp=unconfined --security-opt systempaths=unconfined."
)


def availability() -> Availability:
    """Probe the machine."""
    if sys.platform != "linux" or this_arch() is None:
        known = ", ".join(ARCHES)
        here = f"{platform.system()} on {platform.machine()}"
        unfit = Feature("platform", False, True, f"the jail runs on Linux ({known}), this is {here}")
        return Availability("jail", (unfit,))
    as_root = os.geteuid() == 0
    base = 0 if as_root else kernel.CLONE_NEWUSER
    features = [_platform(), _namespace("user namespace", kernel.CLONE_NEWUSER, _USER_REMEDY)]
    for name, flag in (
        ("mount namespace", kernel.CLONE_NEWNS),
        ("pid namespace", kernel.CLONE_NEWPID),
        ("network namespace", kernel.CLONE_NEWNET),
        ("ipc namespace", kernel.CLONE_NEWIPC),
        ("uts namespace", kernel.CLONE_NEWUTS),
        ("cgroup namespace", kernel.CLONE_NEWCGROUP),
    ):
        features.append(_namespace(name, flag | base, _USER_REMEDY))
    return Availability("jail", (*features, _notification(), _no_new_privs()))


def _platform() -> Feature:
    return Feature("platform", True, True, f"Linux {platform.release()} on {platform.machine()}")


def _namespace(name: str, flags: int, remedy: str) -> Feature:
    tried = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _TRY_NAMESPACES, str(flags)], check=False, capture_output=True
    )
    if tried.returncode == 0:
        return Feature(name, True, True, "as root" if os.geteuid() == 0 else "in a user namespace")
    return Feature(name, False, True, f"unshare: {os.strerror(tried.returncode)}", remedy)


def _notification() -> Feature:
    name = "seccomp user notification"
    try:
        present = kernel.notification_available()
    except OSError as problem:
        return Feature(name, False, True, str(problem))
    remedy = "" if present else "Use Linux 5.19 or newer with CONFIG_SECCOMP_FILTER."
    return Feature(name, present, True, "attempts are told by the kernel" if present else "not known", remedy)


def _no_new_privs() -> Feature:
    present = "NoNewPrivs:" in Path("/proc/self/status").read_text()
    return Feature("no_new_privs", present, True, "privileges cannot be gained by exec" if present else "unknown")
