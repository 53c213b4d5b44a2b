import getpass
import os
import platform
import pwd
import resource
import shutil
import socket
import sys

facts = {
    "system": platform.system() in {"Linux", "Darwin"},
    "release": bool(platform.release()),
    "machine": bool(platform.machine()),
    "python": sys.version_info >= (3, 8),
    "cpus": (os.cpu_count() or 0) >= 1,
    "load": len(os.getloadavg()) == 3,
    "user": bool(getpass.getuser()),
    "home": os.path.isdir(os.path.expanduser("~")),
    "pwd": pwd.getpwuid(os.getuid()).pw_uid == os.getuid(),
    "hostname": bool(socket.gethostname()),
    "parent": os.getppid() >= 0,
    "cwd": os.path.isdir(os.getcwd()),
    "path": "PATH" in os.environ,
    "maxrss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0,
    "nofile": resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 0,
    "sh": shutil.which("sh") is not None,
    "page": os.sysconf("SC_PAGE_SIZE") >= 4096,
}
for name, ok in sorted(facts.items()):
    print(f"{name:10}{'ok' if ok else 'no'}")
