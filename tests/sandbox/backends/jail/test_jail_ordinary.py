# ruff: noqa: E501 - programs and rows keep their lines
"""Ordinary programs notice nothing of the jail: as root, as a user without any right, and in the reduced tier.

That tier runs in what Docker's default profile leaves; `NO_LOOPBACK` is what programs there do without.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from run_once import RunOnce

WALLS = ["root", "user", "reduced-root", "reduced-user"] if os.geteuid() == 0 else ["user"]
HOSTILE = Path(__file__).parents[3] / "hostile"
NO_LOOPBACK = {"asyncio server", "local http server"}
"""A program of the reduced tier cannot serve itself over 127.0.0.1, which is the machine's."""
REPORTED_THERE = {
    "localhost by name": "127.0.0.1:0",  # libc tries which of the found addresses it could reach
    "subprocess of python": "",  # a source tree that packages are installed from in place is looked for
}
"""What is refused and reported in the reduced tier, and harms nothing: how each target begins."""
PIPELINES = """
for i in $(seq 25); do
    [ "$(printf 'b\\na\\n' | sort | head -1)" = a ] || exit 8
    [ "$(sh -c 'printf "b\\na\\n" | sort | head -1; (true & true & wait)')" = a ] || exit 9
done
"""

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
    "pandas": "import pandas as pd\nd = pd.DataFrame({'a': [1, 2, 2], 'b': [1.0, 2.0, 3.0]}); assert d.groupby('a').b.sum().to_dict() == {1: 1.0, 2: 5.0}",
    "pandas files": "import pandas as pd\nd = pd.DataFrame({'a': [1, 2]}); d.to_csv('a.csv', index=False); d.to_json('a.json'); d.to_pickle('a.pkl')\nassert pd.read_csv('a.csv').equals(d) and pd.read_json('a.json').equals(d) and pd.read_pickle('a.pkl').equals(d)",
    "pandas times": "import pandas as pd\ns = pd.Series(range(48), index=pd.date_range('2024-01-01', periods=48, freq='h')); assert s.resample('D').sum().tolist() == [276, 852]",
    "pandas merge": "import pandas as pd\na = pd.DataFrame({'k': [1, 2], 'x': [3, 4]}); assert a.merge(a, on='k').pivot_table(values='x_x', index='k').shape == (2, 1)",
    "pandas and sqlite": "import pandas as pd, sqlite3\nc = sqlite3.connect(':memory:'); pd.DataFrame({'a': [1]}).to_sql('t', c); assert pd.read_sql('select a from t', c).a[0] == 1",
    "numpy": "import numpy as np\nm = np.arange(9.0).reshape(3, 3) + np.eye(3); assert np.allclose(np.linalg.inv(m) @ m, np.eye(3))",
    "numpy random": "import numpy as np\nassert np.random.default_rng().random() != np.random.default_rng().random() and np.random.default_rng(1).integers(10) >= 0",
    "numpy files": "import numpy as np\nnp.savez('a.npz', x=np.ones(3)); assert np.load('a.npz')['x'].sum() == 3; m = np.memmap('m', np.uint8, 'w+', shape=10); m[:] = 1; m.flush()",
    "numpy with threads": "import numpy as np, threading\nts = [threading.Thread(target=lambda: np.random.rand(200, 200) @ np.random.rand(200, 200)) for _ in range(4)]\n[t.start() for t in ts]; [t.join() for t in ts]",
    "numpy fourier": "import numpy as np; assert abs(np.fft.ifft(np.fft.fft([1, 2, 3])) - [1, 2, 3]).max() < 1e-9",
    "decimal": "from decimal import Decimal as D, getcontext\ngetcontext().prec = 50; assert str(D(1) / D(7)).startswith('0.142857142857')",
    "fractions and statistics": "from fractions import Fraction as F; import statistics\nassert F(1, 3) + F(1, 6) == F(1, 2) and statistics.median([3, 1, 2]) == 2",
    "regular expressions": "import re\nassert re.sub(r'(?P<a>\\d+)', lambda m: str(int(m['a']) * 2), 'a1b22') == 'a2b44' and re.findall(r'\\b\\w', 'ab cd', re.A) == ['a', 'c']",
    "collections": "from collections import Counter, OrderedDict, defaultdict, deque, namedtuple, ChainMap\nassert Counter('aab').most_common(1) == [('a', 2)] and deque([1, 2], 1)[0] == 2 and namedtuple('P', 'x')(1).x == 1",
    "itertools": "import itertools as i\nassert list(i.islice(i.chain(i.repeat(1, 2), i.count(5)), 4)) == [1, 1, 5, 6] and len(list(i.permutations(range(5)))) == 120",
    "functools": "import functools as f\n@f.lru_cache\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nassert fib(90) == 2880067194370816120 and f.reduce(int.__add__, [1, 2]) == 3",
    "heaps and bisection": "import heapq, bisect\nh = [3, 1, 2]; heapq.heapify(h); assert heapq.heappop(h) == 1 and bisect.bisect([1, 3], 2) == 1",
    "enums": "import enum\nclass C(enum.Enum):\n    A = 'a'\n    B = enum.auto()\nassert C('a') is C.A\nclass F(enum.Flag):\n    X = 1\n    Y = 2\nassert F.X in F.X | F.Y",
    "abstract classes and protocols": "import abc, typing\nclass P(typing.Protocol):\n    def f(self) -> int: ...\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\ntry: A()\nexcept TypeError: print('abstract')",
    "generators and coroutines": "def g():\n    x = yield 1\n    yield x * 2\ni = g(); next(i); assert i.send(4) == 8",
    "pattern matching": "match {'a': [1, 2]}:\n    case {'a': [x, *rest]}: assert (x, rest) == (1, [2])",
    "exception groups": "try: raise ExceptionGroup('g', [ValueError(1), KeyError(2)])\nexcept* ValueError as e: print(e.exceptions)\nexcept* KeyError: print('key')",
    "context managers": "import contextlib\n@contextlib.contextmanager\ndef f(): yield 3\nwith f() as x, contextlib.ExitStack() as s, contextlib.redirect_stdout(None): s.callback(print, 'x'); assert x == 3",
    "weak references": "import gc, weakref\nclass A: pass\na = A(); w = weakref.ref(a); a.me = a; del a; gc.collect(); assert w() is None",
    "garbage collection": "import gc\ngc.disable(); x = [[] for _ in range(100_000)]; [a.append(a) for a in x]; del x; gc.enable(); assert gc.collect() >= 100_000",
    "asyncio gather and queue": "import asyncio\nasync def f():\n    q = asyncio.Queue(); await q.put(1)\n    async with asyncio.TaskGroup() as g: t = g.create_task(q.get()); g.create_task(asyncio.sleep(0))\n    return t.result(), await asyncio.gather(asyncio.sleep(0, 2), asyncio.to_thread(abs, -3))\nassert asyncio.run(f()) == (1, [2, 3])",
    "asyncio timeout": "import asyncio\nasync def f():\n    try:\n        async with asyncio.timeout(0.01): await asyncio.sleep(5)\n    except TimeoutError: return 1\nassert asyncio.run(f()) == 1",
    "locks between threads": "import threading\nn, lock, c = [0], threading.Lock(), threading.Condition()\ndef f():\n    for _ in range(1000):\n        with lock: n[0] += 1\nts = [threading.Thread(target=f) for _ in range(8)]\n[t.start() for t in ts]; [t.join() for t in ts]; assert n == [8000]",
    "a pool by spawning": "import multiprocessing as m\nif __name__ == '__main__':\n    with m.get_context('fork').Pool(2) as p: assert p.map(len, ['a', 'bb']) == [1, 2]",
    "a manager's dictionary": "import multiprocessing as m\nwith m.Manager() as g: d = g.dict(a=1); d['b'] = 2; assert dict(d) == {'a': 1, 'b': 2}",
    "a fork by hand": "import os\nr, w = os.pipe()\nif os.fork() == 0: os.write(w, b'x'); os._exit(3)\nassert os.read(r, 1) == b'x' and os.waitstatus_to_exitcode(os.wait()[1]) == 3",
    "parents and groups": "import os, subprocess\nassert os.getppid() > 0 and os.getpgrp() == os.getpid() == os.getsid(0)\nassert subprocess.check_output(['bash', '-c', 'echo $PPID']).strip() == str(os.getpid()).encode()",
    "a process with a time limit": "import subprocess\ntry: subprocess.run(['sleep', '20'], timeout=0.05)\nexcept subprocess.TimeoutExpired: print('late')",
    "input to a process": "import subprocess; assert subprocess.run(['tr', 'a-z', 'A-Z'], input='abc', capture_output=True, text=True).stdout == 'ABC'",
    "sed, awk, grep and find": "import subprocess\nopen('a.txt', 'w').write('x 1\\ny 2\\n')\nassert subprocess.check_output(\"grep y a.txt | awk '{print $2}' | sed s/2/3/; find . -name a.txt\", shell=True) == b'3\\n./a.txt\\n'",
    "a pager's width": "import shutil, os; assert shutil.get_terminal_size().columns >= 1 and os.isatty(0) is False",
    "walking and globbing": "import glob, os, pathlib\nos.makedirs('a/b'); open('a/b/c.txt', 'w').close()\nassert glob.glob('**/*.txt', recursive=True) == ['a/b/c.txt'] == [str(p) for p in pathlib.Path().rglob('*.txt')] and len(list(os.walk('.'))) == 3",
    "copies and trees": "import shutil, os\nos.mkdir('a'); open('a/x', 'w').write('1'); shutil.copytree('a', 'b'); shutil.move('b/x', 'c'); shutil.rmtree('b'); assert sorted(os.listdir()) == ['a', 'c'] and shutil.disk_usage('.').free > 0",
    "sessions, one after the other and a dozen at once": "import subprocess as s\nfor _ in range(40): assert s.run(['true'], start_new_session=True).returncode == 0\nall_ = [s.Popen(['cat'], stdin=s.PIPE, start_new_session=True) for _ in range(12)]\nfor one in all_: one.communicate()",
    "locked and sparse files": "import fcntl, os\nwith open('a', 'w+b') as f: fcntl.flock(f, fcntl.LOCK_EX); f.truncate(1 << 20); f.seek(1 << 19); f.write(b'x'); os.fsync(f.fileno()); assert os.stat('a').st_size == 1 << 20",
    "compression": "import bz2, gzip, lzma, zlib\nfor m in (bz2, gzip, lzma, zlib): assert m.decompress(m.compress(b'x' * 1000)) == b'x' * 1000",
    "hashes and encodings": "import base64, binascii, hashlib, hmac, struct\nassert hashlib.sha256(b'x').hexdigest().startswith('2d71') and base64.b64encode(b'x') == b'eA==' and hmac.new(b'k', b'm', 'md5').digest() and struct.pack('>I', 1)[3] == 1",
    "configuration files": "import configparser, tomllib, io\nc = configparser.ConfigParser(); c.read_string('[a]\\nb = 1'); assert c['a'].getint('b') == 1 and tomllib.loads('a = [1]') == {'a': [1]}",
    "arguments": "import argparse\np = argparse.ArgumentParser(); p.add_argument('--n', type=int, default=2); assert p.parse_args(['--n', '3']).n == 3 and p.parse_args([]).n == 2",
    "logging to a file": "import logging, logging.handlers\nh = logging.handlers.RotatingFileHandler('a.log', maxBytes=100, backupCount=2); l = logging.getLogger('a'); l.addHandler(h); l.propagate = False\nfor i in range(20): l.warning('line %d', i)\nimport os; assert os.path.exists('a.log.1')",
    "sqlite with threads": "import sqlite3, threading\nc = sqlite3.connect('a.db'); c.execute('pragma journal_mode=wal'); c.execute('create table t (a)'); c.commit()\ndef f():\n    d = sqlite3.connect('a.db', timeout=9); d.execute('insert into t values (1)'); d.commit(); d.close()\nts = [threading.Thread(target=f) for _ in range(4)]\n[t.start() for t in ts]; [t.join() for t in ts]; assert c.execute('select count(*) from t').fetchone() == (4,)",
    "xml and html": "import html.parser, xml.etree.ElementTree as e, xml.dom.minidom as m\nassert e.fromstring('<a><b c=\"1\"/></a>').find('b').get('c') == '1' and m.parseString('<a/>').documentElement.tagName == 'a'",
    "text and wrapping": "import textwrap, difflib, string\nassert textwrap.dedent('  a') == 'a' and difflib.SequenceMatcher(None, 'abc', 'abd').ratio() > 0.5 and string.Template('$a').substitute(a=1) == '1'",
    "time and calendars": "import calendar, time, datetime as d\nassert calendar.isleap(2024) and time.monotonic() > 0 and time.strftime('%Y', time.gmtime(0)) == '1970' and d.timedelta(days=1).total_seconds() == 86400 and d.datetime.now().year > 2000",
    "time zones": "import datetime as d, zoneinfo\nz = zoneinfo.ZoneInfo('Europe/Berlin'); assert d.datetime(2024, 7, 1, tzinfo=z).utcoffset() == d.timedelta(hours=2)",
    "locales and numbers": "import locale; assert f'{1234567.891:,.2f}' == '1,234,567.89' and locale.getpreferredencoding().lower() == 'utf-8'",
    "a profile": "import cProfile, pstats, io\np = cProfile.Profile(); p.runcall(sum, range(100)); s = io.StringIO(); pstats.Stats(p, stream=s).print_stats(); assert 'function calls' in s.getvalue()",
    "code made at run time": "n = {}; exec(compile('def f(x): return x * 2', 'made', 'exec'), n); assert n['f'](2) == 4 and eval('1 + 1') == 2; import ast; assert ast.unparse(ast.parse('a = 1')) == 'a = 1'",
    "a module of one's own": "import sys, importlib\nopen('mine.py', 'w').write('x = 5'); sys.path.insert(0, ''); importlib.invalidate_caches(); import mine; assert mine.x == 5",
    "type objects": "class M(type):\n    def __new__(c, n, b, d): return super().__new__(c, n, b, {**d, 'tag': 1})\nclass A(metaclass=M):\n    __slots__ = ('x',)\nassert A.tag == 1",
    "a million objects": "x = [object() for _ in range(1_000_000)]; y = {i: str(i) for i in range(200_000)}; assert len(x) + len(y) == 1_200_000",
    "big integers": "assert len(str(3 ** 5000)) == 2386 and pow(3, 10**6, 10**9 + 7) > 0; import math; assert math.comb(100, 50) > 10**28 and math.isqrt(10**40) == 10**20",
}  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """Results by name, and behind which wall."""

    wall: str
    results: dict[str, Any]


@pytest.fixture(scope="module", params=WALLS)
def batch(request: pytest.FixtureRequest, run_once: RunOnce) -> Batch:
    wall: str = request.param
    return Batch(wall, run_once(f"ordinary-{wall}", lambda: run_all(wall)))


def run_all(wall: str) -> dict[str, Any]:
    """Run all programs behind a wall, and return the results by name."""
    command = [sys.executable, "-m", "spanproof.cli", "sandbox", "run", "--jsonl", "--workers", "2"]
    if wall.startswith("reduced"):
        within = [str(HOSTILE / "container.py"), wall.removeprefix("reduced-")]
        command = [sys.executable, *within, *command, "--set", "tier=reduced"]
    elif wall == "user" and os.geteuid() == 0:
        command = [sys.executable, str(HOSTILE / "unprivileged.py"), *command]
    rows = [{"id": name, "language": "python", "source": text} for name, text in ORDINARY.items()]
    rows += [{"id": f"pipelines {n}", "language": "bash", "source": PIPELINES} for n in range(4)]
    # Each of them ends by itself, however busy the machine is.
    lines = "\n".join(json.dumps({**row, "timeout_s": 120}) for row in rows)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(rows), done.stderr[-2000:]
    return {answer["id"]: answer for answer in answers}


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_program_is_unharmed(name: str, batch: Batch) -> None:
    result = batch.results[name]
    if name in NO_LOOPBACK and batch.wall.startswith("reduced"):
        assert result["failure_class"] == "permission_denied", result
        return
    assert result["failure_class"] == "ok", result
    harmless = REPORTED_THERE.get(name, "-") if batch.wall.startswith("reduced") else "-"
    refused = [attempt["target"] for attempt in result["attempts"] if not attempt["allowed"]]
    assert [target for target in refused if not target.startswith(harmless)] == []


@pytest.mark.parametrize("number", range(4))
def test_no_signal_ends_a_fork(number: int, batch: Batch) -> None:
    result = batch.results[f"pipelines {number}"]
    assert (result["failure_class"], result["stderr"]) == ("ok", ""), result
