"""Why this machine refuses what a jail needs, and how to get it: settings and profiles, read from /proc.

In: the error a trial ended with. Out: a reason and a remedy for people. A guess where the kernel does not
say more; the trial itself is the fact.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

CONTAINER_REMEDY = (
    "In Docker use --security-opt seccomp=unconfined --security-opt systempaths=unconfined, in Kubernetes"
    " seccompProfile: Unconfined and procMount: Unmasked;"
    " or accept the reduced tier (`--set tier=reduced`)."
)

_ROOT_REMEDY = (
    "Run as another user (docker run --user 10001): namespaces of a user's own take no right of root's;"
    " or accept the reduced tier (`--set tier=reduced`)."
)

_APPARMOR_REMEDY = (
    "Run sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give the interpreter an AppArmor"
    " profile with `userns`, or run as root."
)


@dataclass(frozen=True, slots=True)
class Sysctls:
    """Settings that bear on namespaces; None where this kernel does not have one."""

    max_user_namespaces: int | None = None
    unprivileged_userns_clone: int | None = None
    apparmor_restrict_unprivileged_userns: int | None = None

    @classmethod
    def read(cls, root: Path = Path("/proc/sys")) -> Sysctls:
        """Read the sysctls of this machine."""
        return cls(
            _find_number(root / "user/max_user_namespaces"),
            _find_number(root / "kernel/unprivileged_userns_clone"),
            _find_number(root / "kernel/apparmor_restrict_unprivileged_userns"),
        )


def get_refusal_reason(error: int, *, as_root: bool, filtered: bool, sysctls: Sysctls) -> tuple[str, str]:
    """Return reason and remedy for a namespace that could not be made.

    Args:
        error: the number `unshare` failed with.
        as_root: whether this process is root.
        filtered: whether a seccomp profile that we did not install is upon it.
        sysctls: this machine's.
    """
    error_text = f"unshare: {os.strerror(error)}"
    if sysctls.max_user_namespaces == 0 and not as_root:
        return (
            f"{error_text}; sysctl user.max_user_namespaces is 0",
            "Run sysctl -w user.max_user_namespaces=9000.",
        )
    if sysctls.unprivileged_userns_clone == 0 and not as_root:
        return (
            f"{error_text}; sysctl kernel.unprivileged_userns_clone is 0",
            "Run sysctl -w kernel.unprivileged_userns_clone=1, or run as root.",
        )
    if sysctls.apparmor_restrict_unprivileged_userns and not as_root:
        return (f"{error_text}; sysctl kernel.apparmor_restrict_unprivileged_userns is 1", _APPARMOR_REMEDY)
    if error == errno.EINVAL:
        return (f"{error_text}; this kernel was built without it", "Use a kernel with CONFIG_NAMESPACES.")
    if filtered:
        return f"{error_text}; a seccomp profile, most likely a container's, forbids it", CONTAINER_REMEDY
    if error == errno.ENOSPC:
        return f"{error_text}; too many namespaces are open, or nested", "Raise sysctl user.max_*_namespaces."
    if as_root:
        return f"{error_text}; root here lacks CAP_SYS_ADMIN", _ROOT_REMEDY
    return error_text, "Run as root, or allow unprivileged user namespaces."


def describe_jail_remedy(error_text: str, *, as_root: bool, sysctls: Sysctls) -> str:
    """Return a remedy where every part can be had, and a jail still cannot be built."""
    if sysctls.apparmor_restrict_unprivileged_userns and not as_root:
        return f"AppArmor takes the rights of user namespaces away. {_APPARMOR_REMEDY}"
    if "proc" in error_text:
        return f"Parts of /proc are masked here. {CONTAINER_REMEDY}"
    return CONTAINER_REMEDY


def is_filtered(status: str) -> bool:
    """Whether a process's /proc status shows a seccomp filter."""
    return any(line.split()[1:] == ["2"] for line in status.splitlines() if line.startswith("Seccomp:"))


def _find_number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
