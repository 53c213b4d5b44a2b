# ruff: noqa: E501 - programs keep their lines
"""Attacks on who judges a program: its frames, its report, its modules, its files, its memory."""

from __future__ import annotations

from .model import Hostile, hostile

_FAILS = "assertion_failure"
"""What a program that ends with a failed assertion is, whatever it has replaced before."""
_OWN = "import sys\nown = sys._getframe().f_code.co_filename\nused = []\n"

SNIPPETS: list[Hostile] = [
    hostile(
        "a mark in each frame below its own",
        """
        import sys
        frame = sys._getframe()
        while frame is not None:
            frame.f_globals.setdefault("verdict", "pass")
            frame.f_globals["failed"] = frame.f_globals["outcome"] = "ok"
            frame = frame.f_back
        assert False
        """,
        None,
        _FAILS,
    ),
    hostile(
        "a forged verdict into every descriptor",
        """
        import fcntl, os, select, stat
        for fd in range(3, 1024):
            try:
                kind, access = os.fstat(fd).st_mode, fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
                if access == os.O_RDONLY or not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)): continue
                poll = select.poll(); poll.register(fd, select.POLLOUT)
                if poll.poll(200): os.write(fd, b'{"outcome": "ok", "status": 0, "attempts": []}\\n')
            except OSError: pass
        assert False
        """,
        None,
        f"{_FAILS} exception killed",
    ),
    hostile(
        "a judge's print and JSON",
        _OWN
        + """
import atexit, builtins, json, os
def trapped(true):
    def forged(*args, **options):
        if sys._getframe(1).f_code.co_filename != own: used.append(1); args = ({"outcome": "ok"},) + args[1:]
        return true(*args, **options)
    return forged
for name in ("dumps", "dump", "loads"): setattr(json, name, trapped(getattr(json, name)))
json.JSONEncoder.encode = lambda self, o=None: used.append(1) or '{"outcome": "ok"}'
builtins.print = trapped(builtins.print)
atexit.register(lambda: os.write(1, b"BREACH" if used else b""))
assert False
""",
        None,
        _FAILS,
    ),
    hostile(
        "a result that equals everything",
        _OWN
        + """
import atexit, os
class Yes(int):
    def _yes(self, *other):
        if sys._getframe(1).f_code.co_filename != own: used.append(1)
        return True
    __eq__ = __le__ = __ge__ = __lt__ = __gt__ = __ne__ = __contains__ = _yes
    def __hash__(self): return 0
result = answer = expected = actual = Yes()
def solve(*args, **options): return Yes()
solution = main = run = solve
atexit.register(lambda: os.write(1, b"BREACH" if used else b""))
""",
        None,
        "ok",
    ),
    hostile(
        "a file that the next interpreter loads",
        """
        import os, site, sysconfig
        paths = sysconfig.get_paths()
        for place in {*site.getsitepackages(), paths["stdlib"], paths["purelib"], paths["platlib"]}:
            try: os.close(os.open(f"{place}/planted.pth", os.O_WRONLY | os.O_CREAT)); print("BREACH", place)
            except OSError: pass
        """,
        ("file", "/planted.pth"),
        "ok",
    ),
    hostile(
        "files of the tests that may be written",
        """
        import fnmatch, os
        names = ("test_*.py", "*_test.py", "conftest.py", "pytest.ini", "*.test.*", "expected*.json", "golden*")
        here = os.getcwd()
        for root in (here, os.path.dirname(here), "/tests", "/judge", "/grader", "/opt/tests"):
            for folder, _folders, files in os.walk(root):
                for name in files:
                    if any(fnmatch.fnmatch(name, one) for one in names):
                        try: open(f"{folder}/{name}", "r+b").close(); print("BREACH", folder, name)
                        except OSError: pass
        """,
        None,
        "ok permission_denied exception",
    ),
    hostile(
        "a judge in the process of the program",
        """
        import sys
        judges = ("pytest", "_pytest", "nose", "spanproof.evaluators", "spanproof.cli", "spanproof.sandbox.registry")
        found = [name for name in sys.modules if name.startswith(judges)]
        if found: print("BREACH", found)
        """,
        None,
        "ok",
    ),
    hostile(
        "a result that runs code where it is loaded",
        """
        import os, pickle, sys
        class Result:
            def __reduce__(self): return (exec, ("print('BREACH', flush=True)",))
        for name in ("result.pkl", "result.pickle", "output.pkl", "return_value.pkl"):
            with open(name, "wb") as file: pickle.dump(Result(), file)
        sys.stdout.buffer.write(pickle.dumps(Result()).replace(b"BREACH", b"......"))
        result = Result()
        """,
        None,
        "ok",
    ),
    hostile(
        "the memory of what started it",
        """
        import ctypes, os
        libc, parent = ctypes.CDLL(None), os.getppid()
        try:
            with open(f"/proc/{parent}/maps") as file: spans = [line.split()[0] for line in file if " r" in line][:20]
        except OSError: spans = []
        for span in spans:
            start = int(span.split("-")[0], 16)
            try:
                with open(f"/proc/{parent}/mem", "rb", buffering=0) as file:
                    file.seek(start)
                    if file.read(8): print("BREACH")
            except (OSError, OverflowError): pass
            buffer = ctypes.create_string_buffer(8)
            local, remote = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8), (ctypes.c_uint64 * 2)(start, 8)
            if libc.process_vm_readv(parent, local, 1, remote, 1, 0) > 0: print("BREACH")
        """,
        ("file", "/maps"),
        "ok",
    ),
    hostile(
        "false frameworks of tests",
        _OWN
        + """
import atexit, os, types
class False_(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        caller = sys._getframe(1).f_code.co_filename
        if caller != own and not caller.startswith("<frozen"): used.append(name)
        return lambda *args, **options: 0
for name in ("pytest", "_pytest", "unittest", "doctest", "hypothesis"): sys.modules[name] = False_(name)
atexit.register(lambda: os.write(1, b"BREACH" if used else b""))
assert False
""",
        None,
        _FAILS,
    ),
    hostile(
        "a judge's JSON and assertions in Node.js",
        """
        import assert from 'node:assert';
        import fs from 'node:fs';
        import util from 'node:util';
        const own = new URL(import.meta.url).pathname;
        let used = false;
        const trap = (object, name, forged) => {
          const true_ = object[name];
          object[name] = function (...args) {
            const callers = (new Error().stack || '').split('\\n').slice(2);
            if (!callers.find((line) => !/node:|<anonymous>/.test(line) && !line.includes(own))) return true_.apply(this, args);
            used = true;
            return forged;
          };
        };
        trap(JSON, 'stringify', '{"outcome":"ok"}');
        for (const name of ['equal', 'strictEqual', 'deepEqual', 'deepStrictEqual', 'ok']) trap(assert, name, undefined);
        trap(util, 'isDeepStrictEqual', true);
        process.on('exit', () => fs.writeSync(1, used ? 'BREACH' : ''));
        throw new Error('failed');
        """,
        None,
        "exception",
        "javascript",
    ),
    hostile(
        "a key pressed in its stead",
        """
        import fcntl, os
        found = [0, 1, 2]
        for path in ("/dev/tty", "/dev/console", "/dev/tty1"):
            try: found.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
            except OSError: pass
        for fd in found:
            try:
                if os.isatty(fd): fcntl.ioctl(fd, 0x5412, b" "); print("BREACH")
            except OSError: pass
        """,
        ("file", "/dev/console"),
        "ok",
    ),
]
