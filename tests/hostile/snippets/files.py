# ruff: noqa: E501 - programs keep their lines
"""Programs that reach for files, devices and sockets that are not theirs."""

from __future__ import annotations

from .model import hostile

_WHEREVER_IT_LIES = "permission_denied exception"
"""A machine may not have it: then there was nothing to refuse, and the attempt is on_record all the same."""

SNIPPETS = [
    hostile(
        "reading the host's canary",
        "print('BREACH', open('{canary}').read())",
        classes="exception permission_denied",
    ),
    hostile(
        "reading /etc/shadow",
        "print('BREACH', open('/etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    hostile(
        "reading /etc/passwd",
        "print('BREACH', open('/etc/passwd').read())",
        ("file", "/etc/passwd"),
        "permission_denied",
    ),
    hostile(
        "listing homes",
        "import os; print('BREACH', os.listdir('/root'))",
        ("file", "/root"),
        "permission_denied",
    ),
    hostile(
        "a name looked up by bash",
        "exec 3<>/dev/tcp/collect.example/80 && echo BREACH; exit 1",
        ("network", "collect.example"),
        "permission_denied",
        "bash",
    ),
    hostile(
        "reading ssh keys",
        "print('BREACH', open('/root/.ssh/id_rsa').read())",
        ("file", "/root/.ssh/id_rsa"),
        _WHEREVER_IT_LIES,
    ),
    hostile(
        "reading cloud credentials",
        "print('BREACH', open('/home/agent/.aws/credentials').read())",
        ("file", "/home/agent/.aws/credentials"),
        _WHEREVER_IT_LIES,
    ),
    hostile(
        "cat in bash", "cat /etc/shadow && echo BREACH", ("file", "/etc/shadow"), "permission_denied", "bash"
    ),
    hostile(
        "the supervisor's environment",
        "print('BREACH', open('/proc/1/environ').read())",
        ("file", "/proc/1/environ"),
        "permission_denied",
    ),
    hostile(
        "the supervisor's memory",
        "open('/proc/1/mem', 'rb').read(1); print('BREACH')",
        ("file", "/proc/1/mem"),
        "permission_denied",
    ),
    hostile(
        "the supervisor's descriptors",
        "import os; print('BREACH', os.listdir('/proc/1/fd'))",
        ("file", "/proc/1/fd"),
        "permission_denied",
    ),
    hostile(
        "the host's root through /proc",
        "print('BREACH', open('/proc/1/root/etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    hostile(
        "own root through /proc",
        "print('BREACH', open('/proc/self/root/etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    hostile(
        "climbing out by dots",
        "print('BREACH', open('../' * 40 + 'etc/shadow').read())",
        ("file", "/etc/shadow"),
        "permission_denied",
    ),
    hostile(
        "a link out of the box",
        """
        import os
        os.symlink("/etc/shadow", "link"); print("BREACH", open("link").read())
        """,
        ("file", "etc/shadow"),
        "permission_denied",
    ),
    hostile(
        "a link to the host's canary left behind", "import os; os.symlink('{canary}', 'left')", classes="ok"
    ),
    hostile(
        "writing outside",
        "open('/usr/evil', 'w').write('x'); print('BREACH')",
        ("file", "/usr/evil"),
        "permission_denied",
    ),
    hostile(
        "writing into the interpreter",
        "import os; open(os.__file__, 'a').write('x'); print('BREACH')",
        ("file", "os.py"),
        "permission_denied",
    ),
    hostile(
        "writing /etc",
        "open('/etc/resolv.conf', 'w').write('x'); print('BREACH')",
        ("file", "/etc/resolv.conf"),
        "permission_denied",
    ),
    hostile(
        "deleting the system",
        "import os; os.unlink('/usr/bin/env'); print('BREACH')",
        ("file", "/usr/bin/env"),
        "permission_denied",
    ),
    hostile(
        "rm -rf in bash",
        "rm -rf --no-preserve-root /usr/local /etc 2>/dev/null; ls /usr/bin/env > /dev/null || echo BREACH; exit 1",
        ("file", "/usr/local"),
        "permission_denied",
        "bash",
    ),
    hostile(
        "changing modes",
        "import os; os.chmod('/usr/bin/env', 0o777); print('BREACH')",
        ("file", "/usr/bin/env"),
        "permission_denied",
    ),
    hostile(
        "a raw disk", "open('/dev/sda', 'rb'); print('BREACH')", ("file", "/dev/sda"), "permission_denied"
    ),
    hostile(
        "physical memory",
        "open('/dev/mem', 'rb'); print('BREACH')",
        ("file", "/dev/mem"),
        "permission_denied",
    ),
    hostile(
        "kernel settings",
        "open('/proc/sys/kernel/core_pattern', 'w').write('|/x'); print('BREACH')",
        ("file", "core_pattern"),
        "permission_denied",
    ),
    hostile(
        "sysrq",
        "open('/proc/sysrq-trigger', 'w').write('b'); print('BREACH')",
        ("file", "sysrq"),
        "permission_denied",
    ),
    hostile(
        "its own protection from the memory killer",
        "open('/proc/self/oom_score_adj', 'w').write('-1000'); print('BREACH')",
        ("file", "oom_score_adj"),
        "permission_denied",
    ),
    hostile(
        "the docker socket",
        """
        import socket
        s = socket.socket(socket.AF_UNIX); s.connect("/var/run/docker.sock"); print("BREACH")
        """,
        (
            "file",
            "/run/docker.sock",
        ),  # `docker` looks for it too: a policy that allows the program allows that
        _WHEREVER_IT_LIES,
    ),
    hostile(
        "a device node",
        "import os, stat; os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(8, 0)); print('BREACH')",
        ("privilege", "mknod"),
        "unsafe_operation",
    ),
    hostile(
        "a set-user-id file",
        """
        import os, shutil
        shutil.copy("/usr/bin/id", "id"); os.chmod("id", 0o4755)
        out = os.popen("./id -u").read()
        if out.strip() == "0": print("BREACH", out)
        """,
        classes="ok",
    ),
    hostile(
        "set-user-id programs of the system",
        "su -c id < /dev/null; sudo -n id; exit 1",
        None,
        "exception missing_dependency permission_denied unsafe_operation",
        "bash",
    ),
    hostile(
        "the host's environment",
        """
        import os
        if any("CANARY" in key for key in os.environ): print("BREACH", dict(os.environ))
        with open("/proc/self/environ") as f:
            if "CANARY" in f.read(): print("BREACH")
        """,
        classes="ok",
    ),
    hostile(
        "inherited descriptors",
        """
        import os
        for fd in range(3, 4096):
            try: where = os.readlink(f"/proc/self/fd/{fd}")
            except OSError: continue
            if "socket" not in where and fd != 900 and not where.startswith("/proc"): print("BREACH", fd, where)
        """,
        classes="ok",
    ),
    hostile(
        "other processes",
        """
        import os
        seen = [p for p in os.listdir("/proc") if p.isdigit()]
        if len(seen) > 3: print("BREACH", seen)
        """,
        classes="ok",
    ),
]
