"""Programs that name a forbidden object by another path: each attempt is on record as the object."""

from __future__ import annotations

from .model import hostile

_PASSWD = ("file", "/etc/passwd")


def _reads(name: str, before: str, path: str) -> object:
    source = f"import os, threading\n{before}\nprint('BREACH', open({path}).read())"
    return hostile(f"passwd by {name}", source, _PASSWD, "permission_denied")


SNIPPETS = [
    _reads("a link and its parent", "os.symlink('/etc/ssl/certs', 'l')", "'l/../../passwd'"),
    _reads("two links", "os.symlink('/etc/ssl/certs', 'a'); os.symlink('a/..', 'b')", "'b/../passwd'"),
    _reads("a linked directory", "os.symlink('/etc/ssl/certs', 'l'); os.chdir('l')", "'../../passwd'"),
    _reads("the working directory of /proc", "os.chdir('/etc/ssl/certs')", "'/proc/self/cwd/../../passwd'"),
    _reads("the root of a thread", "", "f'/proc/self/task/{threading.get_native_id()}/root/etc/passwd'"),
    _reads("the root of the caller's thread", "", "'/proc/thread-self/root/etc/passwd'"),
    _reads(
        "a descriptor of /proc",
        "fd = os.open('/etc/ssl/certs', os.O_RDONLY)",
        "f'/proc/self/fd/{fd}/../../passwd'",
    ),
    _reads("a link to /proc", "os.symlink('/proc/self/root', 'r')", "'r/etc/passwd'"),
    hostile(
        "passwd beside a directory's descriptor",
        "import os\nfd = os.open('/etc/ssl/certs', os.O_RDONLY)\n"
        "print('BREACH', os.open('../../passwd', os.O_RDONLY, dir_fd=fd))",
        _PASSWD,
        "permission_denied",
    ),
    hostile(
        "writing beside a link's target",
        "import os\nos.symlink('/usr/lib', 'l')\nopen('l/../planted', 'w')\nprint('BREACH')",
        ("file", "/usr/planted"),
    ),
    hostile(
        "writing in a directory changed to",
        "import os\nos.chdir('/usr/lib')\nopen('planted', 'w')\nprint('BREACH')",
        ("file", "/usr/lib/planted"),
    ),
    hostile(
        "a maze of links",
        "import os\nfor i in range(60): os.symlink('./' * 1500 + f'l{i + 1}', f'l{i}')\n"
        "while True:\n    try: open('l0')\n    except OSError: pass",
        ("file", "/l0"),
        "timeout",
    ),
    hostile(
        "a program by its descriptor alone",
        "import os, shutil\nprogram = shutil.which('chroot', path='/usr/sbin:/usr/bin')\n"
        "os.execve(os.open(program, os.O_RDONLY), ['chroot', '/'], {})",
        ("privilege", "chroot"),
        "unsafe_operation",
    ),
]
