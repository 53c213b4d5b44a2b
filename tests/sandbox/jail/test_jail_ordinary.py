# ruff: noqa: E501 - programs and rows keep their lines
"""Ordinary programs notice nothing of the jail: as root, and as a user without any right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

USERS = ["root", "user"] if os.geteuid() == 0 else ["user"]
AS_USER = Path(__file__).parents[2] / "hostile" / "unprivileged.py"

ORDINARY = {
    "arithmetic": "print(sum(i * i for i in range(1000)))",
    "threads": "import threading\nout = []\nts = [threading.Thread(target=out.append, args=(i,)) for i in range(20)]\n[t.start() for t in ts]; [t.join() for t in ts]\nassert sorted(out) == list(range(20))",
    "thread pool": "from concurrent.futures import ThreadPoolExecutor as P\nwith P(4) as p: assert list(p.map(abs, [-1, 2])) == [1, 2]",
    "process pool": "from concurrent.futures import ProcessPoolExecutor as P\nwith P(2) as p: assert list(p.map(abs, [-1, 2])) == [1, 2]",
    "multiprocessing queue": "import multiprocessing as m\nq = m.Queue(); p = m.Process(target=q.put, args=(7,)); p.start(); assert q.get() == 7; p.join()",
    "shared memory": "from multiprocessing.shared_memory import SharedMemory as S\ns = S(create=True, size=1000); s.buf[0] = 7; s.close(); s.unlink()",
    "asyncio": "import asyncio\nasync def f(): await asyncio.sleep(0.01); return 3\nassert asyncio.run(f()) == 3",
    "asyncio subprocess": "import asyncio\nasync def f():\n    p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=-1)\n    return (await p.communicate())[0]\nassert asyncio.run(f()) == b'hi\\n'",
    "asyncio server": "import asyncio\nasync def f():\n    async def h(r, w): w.write(await r.readline()); w.close()\n    s = await asyncio.start_server(h, '127.0.0.1', 0)\n    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())\n    w.write(b'hi\\n'); assert await r.readline() == b'hi\\n'; s.close()\nasyncio.run(f())",
    "local http server": "import threading, urllib.request\nfrom http.server import HTTPServer, SimpleHTTPRequestHandler as H\nopen('a.txt', 'w').write('x')\ns = HTTPServer(('127.0.0.1', 0), H); threading.Thread(target=s.serve_forever, daemon=True).start()\nassert urllib.request.urlopen(f'http://127.0.0.1:{s.server_port}/a.txt').read() == b'x'",
    "socket pair": "import socket\na, b = socket.socketpair(); a.sendall(b'x'); assert b.recv(1) == b'x'",
    "subprocess": "import subprocess; assert subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout == 'hi\\n'",
    "subprocess of python": "import subprocess, sys; assert subprocess.check_output([sys.executable, '-c', 'print(1)']) == b'1\\n'",
    "shell pipeline": "import subprocess; assert subprocess.check_output('printf \"b\\na\\n\" | sort | head -1', shell=True) == b'a\\n'",
    "os.system": "import os; assert os.system('true') == 0",
    "temporary files": "import tempfile\nwith tempfile.TemporaryDirectory() as d, tempfile.NamedTemporaryFile(dir=d) as f: f.write(b'x')",
    "files": "from pathlib import Path\np = Path('a/b'); p.mkdir(parents=True); (p / 'c').write_text('x'); (p / 'c').rename('d'); assert Path('d').read_text() == 'x'; Path('d').unlink()",
    "archives": "import shutil\nopen('a.txt', 'w').write('x'); shutil.make_archive('z', 'zip', '.', 'a.txt'); shutil.unpack_archive('z.zip', 'out')",
    "tar": "import tarfile\nopen('a', 'w').write('x')\nwith tarfile.open('t.tgz', 'w:gz') as t: t.add('a')",
    "links and modes": "import os\nopen('a', 'w').close(); os.symlink('a', 'b'); os.link('a', 'c'); os.chmod('a', 0o600); assert os.path.realpath('b').endswith('/a')",
    "named pipe": "import os, threading\nos.mkfifo('p')\nthreading.Thread(target=lambda: open('p', 'w').write('x')).start(); assert open('p').read() == 'x'",
    "sqlite": "import sqlite3\nc = sqlite3.connect('a.db'); c.execute('create table t (a)'); c.execute('insert into t values (1)'); c.commit(); assert c.execute('select * from t').fetchall() == [(1,)]",
    "csv and json": "import csv, json, io\nassert json.loads(json.dumps({'a': [1]})) == {'a': [1]}\nassert list(csv.reader(io.StringIO('a,b'))) == [['a', 'b']]",
    "dates": "import datetime, zoneinfo\nassert datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC).isoformat()",
    "random and uuid": "import random, secrets, uuid\nassert random.random() != random.random() and uuid.uuid4() != uuid.uuid4() and secrets.token_hex()",
    "signals": "import os, signal\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *a: seen.append(1)); os.kill(os.getpid(), signal.SIGUSR1); assert seen",
    "alarm": "import signal, time\nsignal.signal(signal.SIGALRM, lambda *a: print('rang')); signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.05)",
    "memory map": "import mmap\nm = mmap.mmap(-1, 1 << 20); m[:1] = b'x'",
    "a hundred megabytes": "x = bytearray(100_000_000); assert len(x)",
    "deep recursion": "import sys\nsys.setrecursionlimit(5000)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\nassert f(4000) == 4000",
    "ctypes": "import ctypes; assert ctypes.CDLL(None).abs(-3) == 3",
    "imports not preloaded": "import xml.etree.ElementTree as e, email, gettext, plistlib, curses.ascii, wave; assert e.fromstring('<a/>').tag == 'a'",
    "inspect source": "import inspect\ndef f(): return 1\nassert 'return 1' in inspect.getsource(f)",
    "dataclasses and pickles": "import dataclasses, pickle\n@dataclasses.dataclass\nclass A: x: int\nassert pickle.loads(pickle.dumps(A(1))) == A(1)",
    "main module": "import sys, __main__\nx = 1\nassert __name__ == '__main__' and sys.modules['__main__'].x == 1",
    "type hints": "import typing\ndef f(a: 'int') -> 'str': ...\nassert typing.get_type_hints(f) == {'a': int, 'return': str}",
    "warnings": "import warnings\nwith warnings.catch_warnings(record=True) as w: warnings.warn('x'); assert len(w) == 1",
    "logging": "import logging; logging.basicConfig(); logging.warning('x')",
    "exit functions": "import atexit; atexit.register(print, 'bye')",
    "home directory": "import os, pathlib, getpass\nassert pathlib.Path.home().is_dir() and getpass.getuser() == 'agent'\n(pathlib.Path.home() / '.cache').mkdir()",
    "cpu count": "import os; assert os.cpu_count() >= 1",
    "host name": "import socket, platform; assert socket.gethostname() and platform.system() == 'Linux'",
    "localhost by name": "import socket; assert socket.gethostbyname('localhost') == '127.0.0.1'",
    "ssl context": "import ssl; ssl.create_default_context()",
    "timeit": "import timeit; timeit.timeit('1 + 1', number=100)",
    "select and poll": "import os, select\nr, w = os.pipe(); os.write(w, b'x'); assert select.select([r], [], [], 1)[0] == [r]",
    "context of exceptions": "import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: assert 'division' in traceback.format_exc()",
    "unicode": "print('grüße 漢字 🎉')",
    "doctest": "import doctest\ndef f():\n    '''\n    >>> 1 + 1\n    2\n    '''\nassert doctest.testmod().failed == 0",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\nassert unittest.main(argv=['x'], exit=False).result.wasSuccessful()",
}  # fmt: skip


@pytest.fixture(scope="module", params=USERS)
def results(request: pytest.FixtureRequest) -> dict[str, Any]:
    command = [sys.executable, "-m", "spanproof.cli", "sandbox", "run", "--jsonl", "--workers", "2"]
    if request.param == "user" and os.geteuid() == 0:
        command = [sys.executable, str(AS_USER), *command]
    lines = [
        json.dumps({"id": name, "language": "python", "source": text}) for name, text in ORDINARY.items()
    ]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(ORDINARY), done.stderr[-2000:]
    return {answer["id"]: answer for answer in answers}


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_program_is_unharmed(name: str, results: dict[str, Any]) -> None:
    result = results[name]
    assert result["failure_class"] == "ok", result
    assert [attempt for attempt in result["attempts"] if not attempt["allowed"]] == []
