"""The seccomp profile of a container: the jail's own list of calls, in the daemon's form.

Stricter than Docker's default: what the jail does not know is refused. The privileged calls it does know pass
here, and only here, so that the filter every program is under can refuse and report them; a filter further
out would refuse them first, in silence.
"""

from __future__ import annotations

import errno
import functools
import json

from spanproof.sandbox.supervisor.seccomp.rules import NAMED

# What PID 1 calls beside, and no program: to theirs, the filter they are under says that there is none.
_OUR_OWN = frozenset(("memfd_create",))


@functools.cache
def build_seccomp_profile() -> str:
    """Build the profile, as JSON."""
    calls = [
        {"names": sorted(NAMED | _OUR_OWN), "action": "SCMP_ACT_ALLOW"},
        # libc falls back to clone only where there is no clone3
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS},
    ]
    architectures = [
        {
            "architecture": "SCMP_ARCH_X86_64",
            "subArchitectures": [
                "SCMP_ARCH_X86",
                "SCMP_ARCH_X32",
            ],  # theirs are the programs' filter's to refuse
        },
        {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
    ]
    return json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "archMap": architectures, "syscalls": calls})
