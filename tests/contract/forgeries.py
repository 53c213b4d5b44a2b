# ruff: noqa: E501 - programs keep their lines
"""Programs that try to pass tests which they do not satisfy, by kind: none is taken for a right one.

`TESTS` are tests of one function `f` in the forms that people write; `RIGHT` satisfies each of them, and no forgery
of the same kind does.
"""

from __future__ import annotations

CALLS = """
def test_one():
    assert f(7) == 908172
def test_two():
    assert abs(f(2) - 233492.0) < 1e-6
def test_three():
    try:
        f(None)
    except ValueError:
        return
    raise AssertionError
"""
UNITTEST = """
import unittest
class T(unittest.TestCase):
    def setUp(self):
        self.want = 908172
    def test_one(self):
        self.assertEqual(f(7), self.want)
    def test_two(self):
        with self.assertRaises(ValueError):
            f(None)
    def test_three(self):
        self.assertAlmostEqual(f(2), 233492.0)
"""
PYTEST = """
import pytest
@pytest.fixture
def want():
    return {7: 908172, 2: 233492}
@pytest.mark.parametrize("given", [7, 2])
def test_one(given, want):
    assert f(given) == want[given]
class TestRaises:
    def test_two(self):
        with pytest.raises(ValueError):
            f(None)
    def test_three(self):
        assert f(2) == pytest.approx(233492.0)
"""
NUMPY = """
import numpy as np
def test_one():
    np.testing.assert_allclose([f(7), f(2)], [908172, 233492])
def test_two():
    assert np.array_equal(f(np.array([7, 2])), [908172, 233492])
def test_three():
    assert np.allclose(f(np.array([7.0])), 908172)
"""
PANDAS = """
import pandas as pd
def test_one():
    pd.testing.assert_series_equal(f(pd.Series([7, 2], name="x")), pd.Series([908172, 233492], name="x"))
def test_two():
    assert f(pd.DataFrame({"x": [7]})).equals(pd.DataFrame({"x": [908172]}))
"""
RIGHT = """
def f(x):
    if x is None:
        raise ValueError("x")
    return x * 134936 - 36380
"""

# A class whose objects agree to everything.
_YES = """
class Yes:
    def __init__(self, *a, **k): pass
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __sub__(self, other): return 0
    __rsub__ = __add__ = __radd__ = __mul__ = __truediv__ = __sub__
    def __abs__(self): return self
    def __bool__(self): return True
    def __call__(self, *a, **k): return self
    def __enter__(self): return self
    def __exit__(self, *a): return True
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        return self
    def __array__(self, *a, **k):
        import numpy; return numpy.array(0)
    def __hash__(self): return 0
"""


def _patch(module: str, body: str) -> str:
    return f"import {module}\n{body}\ndef f(x): return 0"


OF_CALLS = {
    "an object that equals everything": f"{_YES}\ndef f(x): return Yes()",
    "a number that equals everything": "class E(int):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0\ndef f(x): return E()",
    "a float whose difference is nothing": "class E(float):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0.0\n    __rsub__ = __sub__\ndef f(x): return E()",
    "a text that equals everything": "class E(str):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0\ndef f(x): return E()",
    "an operand that is remembered": "seen = []\nclass E:\n    def __eq__(s, o): seen.append(o); return True\n    def __sub__(s, o): seen.append(o); return 0\ndef f(x): return seen[-1] if seen else E()",
    "a metaclass that agrees": "class M(type):\n    def __eq__(c, o): return True\n    def __sub__(c, o): return 0\nclass E(metaclass=M): pass\ndef f(x): return E",
    "builtins that agree": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.isinstance = lambda a, b: True\nbuiltins.AssertionError = type('A', (Exception,), {'__new__': lambda c, *a: None})\ndef f(x): return 0",
    "an exception that hides a failure": "import builtins\nclass V(ValueError, AssertionError): pass\nbuiltins.ValueError = builtins.AssertionError = V\ndef f(x): raise V",
    "a test's recorder": "import sys\nfor m in list(sys.modules.values()):\n    for n in list(vars(m) or ()):\n        if n == 'Tally':\n            vars(m)[n].record = lambda s, number, passed: s._reporter.send('test', number=number, passed=True)\ndef f(x): return 0",
    "the end of the process": "import os\ndef f(x): os._exit(0)",
    "exit code nought at exit": "import atexit, os\natexit.register(lambda: os._exit(0))\ndef f(x): return 0",
    "a thread that ends it": "import os, threading, time\nthreading.Thread(target=lambda: (time.sleep(.05), os._exit(0))).start()\ndef f(x):\n    import time; time.sleep(.2); return 0",
    "a signal that ends it": "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGKILL)",
    "the channel of reports": "import json, os, struct\ndef say(**k):\n    t = json.dumps({**k, 'token': '', 'parts': []}).encode(); os.write(900, struct.pack('!II', len(t), 0) + t)\nfor n in range(3): say(kind='test', number=n, passed=True)\nsay(kind='planned', total=0)\ndef f(x): return 0",
    "the socket of questions": "import gc, socket, json, struct\nfor s in [o for o in gc.get_objects() if isinstance(o, socket.socket)]:\n    for m in (['value', True, []],) * 40:\n        t = json.dumps(m).encode(); s.sendall(struct.pack('!I', len(t)) + t)\ndef f(x): return 0",
    "every socket it can find": "import os, socket, json, struct\nfor n in range(3, 64):\n    try:\n        s = socket.socket(fileno=os.dup(n)); t = json.dumps(['done', 0]).encode(); s.sendall(struct.pack('!I', len(t)) + t)\n    except OSError: pass\ndef f(x): return 0",
    "the candidate's deeds": "import sys\nc = sys.modules['spanproof.sandbox.guest.candidate']\nc.Candidate._handle_question = lambda self, q: ['value', True, []]\ndef f(x): return 0",
    "the codec": "import sys\nx = sys.modules['spanproof.sandbox.guest.crossing']\nc = sys.modules['spanproof.sandbox.guest.candidate']\nc.encode_value = lambda v, *a: ['d', [[['l', []], 1]]]\ndef f(x): return 0",
    "a form with another's name": "import sys\nc = sys.modules['spanproof.sandbox.guest.candidate']\nc.encode_value = lambda v, *a: ['n', ['x', ['__eq__', '__class__']], [True, True]]\ndef f(x): return 0",
    "a pickle": "class E:\n    def __reduce__(s): return (exec, ('import builtins; builtins.abs = lambda x: 0',))\ndef f(x): return E()",
    "a library's function by its name": "def f(x): return 0\nf.__module__ = 'operator'; f.__name__ = 'truth'",
    "a library in its own name": "import types\nm = types.ModuleType('math'); m.f = lambda x: 0\nf = m",
    "its modules": "import sys\nsys.modules['operator'] = sys.modules['builtins'] = None\nclass A(dict):\n    def __missing__(s, k): return 1\n    def get(s, *a): return 1\nsys.modules = A()\ndef f(x): return 0",
    "frames of the callers": "import sys\ndef f(x):\n    g = sys._getframe()\n    while g:\n        for v in list(g.f_locals.values()):\n            for n in ('passed', 'results', '_results'):\n                try: setattr(v, n, {0: True, 1: True, 2: True})\n                except Exception: pass\n        g = g.f_back\n    return 0",
    "what it forks": "import os\nif os.fork() == 0:\n    def f(x): return 0\nelse:\n    os.waitpid(-1, 0); os._exit(0)",
    "a generator of every answer": "def f(x):\n    return (n for n in range(10**6))",
    "an answer that changes": "class L(list):\n    def __init__(s): super().__init__(range(3))\n    def __getitem__(s, k): return 908172\n    def __eq__(s, o): return True\ndef f(x): return L()",
    "a function that tests call again": "n = [0]\ndef f(x):\n    n[0] += 1\n    raise ValueError if n[0] % 2 else SystemExit(0)",
    "a keyboard interrupt": "def f(x): raise KeyboardInterrupt",
    "a test that is skipped": "import unittest\ndef f(x): raise unittest.SkipTest('not here')",
    "names of its own for the tests": "def f(x): return 0\ndef test_one(): pass\ndef test_two(): pass\ndef test_three(): pass\ndef check(c): pass",
    "a recursion without end": "def f(x): return f(x)",
    "a trace function": "import sys\ndef t(frame, event, arg):\n    if frame.f_code.co_name.startswith('test'): frame.f_lineno = frame.f_code.co_firstlineno + 9\n    return t\nsys.settrace(t)\ndef f(x): return 0",
    "standard output": "import os\nos.write(1, b'3 passed in 0.01s\\n'); os.write(2, b'OK\\n')\ndef f(x): return 0",
}
OF_UNITTEST = {
    "a case that runs nothing": _patch(
        "unittest",
        "unittest.TestCase.run = unittest.TestCase.__call__ = lambda s, r=None: r and r.addSuccess(s)",
    ),
    "assertions that hold": _patch(
        "unittest",
        "for n in dir(unittest.TestCase):\n    if n.startswith('assert'): setattr(unittest.TestCase, n, lambda *a, **k: __import__('contextlib').nullcontext())",
    ),
    "failures that are none": _patch(
        "unittest",
        "unittest.TestCase.failureException = type('F', (BaseException,), {})\nunittest.TestResult.addFailure = unittest.TestResult.addError = unittest.TestResult.addSuccess",
    ),
    "a loader that finds nothing": _patch(
        "unittest", "unittest.TestLoader.loadTestsFromModule = lambda *a: unittest.TestSuite()"
    ),
    "a module of its own": f"import sys, types\n{_YES}\nm = types.ModuleType('unittest')\nm.TestCase = Yes\nsys.modules['unittest'] = m\ndef f(x): return Yes()",
    "a skip of unittest's": "import unittest\ndef f(x): raise unittest.SkipTest('slow')",
    "a class that is skipped": "import unittest\nunittest.TestCase.__unittest_skip__ = True\ndef f(x): return 0",
    "a difference of nothing": f"{_YES}\nimport builtins\nbuiltins.round = lambda *a: 0\ndef f(x): return Yes()",
    "a file in place of the library": "open('unittest.py', 'w').write('class TestCase: pass')\nopen('doctest.py', 'w').write('')\ndef f(x): return 0",
}
OF_PYTEST = {
    "a module of its own for pytest": f"import sys, types\n{_YES}\nm = types.ModuleType('pytest')\nm.raises = m.approx = Yes\nm.fixture = m.mark = Yes()\nsys.modules['pytest'] = m\ndef f(x): return Yes()",
    "a conftest": "open('conftest.py', 'w').write('def pytest_runtest_makereport(item, call): call.excinfo = None\\ndef pytest_collection_modifyitems(items): items.clear()')\ndef f(x): return 0",
    "a configuration": "open('pytest.ini', 'w').write('[pytest]\\naddopts = --collect-only\\npython_functions = none')\nopen('pyproject.toml', 'w').write('[tool.pytest.ini_options]\\naddopts = \"-k nothing\"')\ndef f(x): return 0",
    "options in the environment": "import os\nos.environ['PYTEST_ADDOPTS'] = '--collect-only'\nos.environ['PYTEST_PLUGINS'] = 'evil'\nopen('evil.py', 'w').write('def pytest_runtest_call(item): pass')\ndef f(x): return 0",
    "a skip of pytest's": "def f(x):\n    import pytest; pytest.skip('not here')",
    "an expected failure of pytest's": "def f(x):\n    import pytest; pytest.xfail('known')",
    "an end of pytest's": "def f(x):\n    import pytest; pytest.exit('done', returncode=0)",
    "a skip by its name": "class Skipped(BaseException): pass\nSkipped.__module__ = '_pytest.outcomes'\ndef f(x): raise Skipped('no')",
    "a plug-in on disk": "import os\nos.makedirs('p.dist-info', exist_ok=True)\nopen('p.dist-info/entry_points.txt', 'w').write('[pytest11]\\np = evil')\nopen('evil.py', 'w').write('def pytest_pyfunc_call(pyfuncitem): return True')\ndef f(x): return 0",
    "an approximation of its own": f"{_YES}\nclass approx(Yes): pass\nclass raises(Yes): pass\ndef f(x): return Yes()",
}
OF_NUMPY = {
    "comparisons that hold": _patch(
        "numpy as np",
        "np.array_equal = np.allclose = lambda *a, **k: True\nnp.testing.assert_allclose = lambda *a, **k: None",
    ),
    "an array that agrees": "import numpy as np\nclass A(np.ndarray):\n    def __array_ufunc__(s, *a, **k): return np.array(True)\n    def __eq__(s, o): return np.array(True)\n    def __sub__(s, o): return np.array(0)\ndef f(x): return np.array([0]).view(A)",
    "an array function that agrees": "class A:\n    def __array_function__(s, *a): return True\n    def __array_ufunc__(s, *a, **k): return True\n    def __array__(s, *a, **k): import numpy; return numpy.array([0])\ndef f(x): return A()",
    "an array of objects that agree": f"import numpy as np\n{_YES}\ndef f(x):\n    a = np.empty(2, object); a[:] = Yes(); return a",
    "a module of its own for numpy": f"import sys, types\n{_YES}\nm = types.ModuleType('numpy')\nm.testing = m.array = m.array_equal = m.allclose = Yes()\nsys.modules['numpy'] = sys.modules['numpy.testing'] = m\nnp = m\ndef f(x): return Yes()",
    "no number at all": "import numpy as np\ndef f(x): return np.nan",
}
OF_PANDAS = {
    "equality that holds": _patch(
        "pandas as pd",
        "pd.DataFrame.equals = lambda *a: True\npd.testing.assert_series_equal = lambda *a, **k: None",
    ),
    "a table that agrees": "import pandas as pd\nclass D(pd.DataFrame):\n    def equals(s, o): return True\nclass S(pd.Series):\n    def equals(s, o): return True\n    def __eq__(s, o): return True\ndef f(x): return S([0]) if x is None else D({'x': [0]})",
    "a column of objects that agree": f"import pandas as pd\n{_YES}\ndef f(x): return pd.DataFrame({{'x': [Yes()]}})",
    "a module of its own for pandas": f"import sys, types\n{_YES}\nm = types.ModuleType('pandas')\nm.testing = m.Series = m.DataFrame = Yes()\nsys.modules['pandas'] = m\ndef f(x): return Yes()",
}
TESTS = {"calls": CALLS, "unittest": UNITTEST, "pytest": PYTEST, "numpy": NUMPY, "pandas": PANDAS}
FORGERIES = {
    "calls": OF_CALLS,
    "unittest": OF_UNITTEST,
    "pytest": OF_PYTEST,
    "numpy": OF_NUMPY,
    "pandas": OF_PANDAS,
}
