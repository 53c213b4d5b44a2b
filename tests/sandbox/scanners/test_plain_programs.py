"""Programs that only compute are not read to their end: this must leave out no finding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from golden_yaml import load_golden
from hypothesis import given
from hypothesis import strategies as st
from tests.bench.cells import iter_package_cells
from tests.bench.snippet_set import FOLDER, load_set

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.scanners import python
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, clock
from spanproof.sandbox.scanners.model import Finding, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.python.plain import is_plain
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.source import Source

_HERE = Path(__file__).parent
_BOUNDARY = Boundary(Policy())

_PLAIN = {
    "a table": (
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})\n"
        "print(df.groupby('a')['b'].mean().round(2))"
    ),
    "numbers": "import numpy as np\nx = np.linspace(0, 1, 11)\nprint(f'{np.trapezoid(x**2, x):.3f}')",
    "files inside": (
        "import json\nwith open('in.json', encoding='utf-8') as file:\n    rows = json.load(file)\n"
        "with open('out.txt', 'w') as file:\n    file.write(str(sum(rows)))"
    ),
    "a plot": (
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.ylabel('km/h')\n"
        "plt.savefig('speed.png', dpi=150)"
    ),
    "functions": (
        "from collections import Counter\n\ndef longest(words):\n    '''Return it; see https://example.com/x.'''\n"
        "    return max(words, key=len)\n\nprint(longest('a bb ccc'.split()), Counter('abca').most_common(1))"
    ),
    "a loop": "a, b = 0, 1\nwhile b < 100:\n    a, b = b, a + b\nprint('the last one: ', b)",
}

# Each line reaches something, or does so by a detour that the quick look must not fall for.
_LINES = [
    "open('/etc/passwd')", "open('../x')", "open('a.txt', opener=print)", "open(name)", "open(*names)",
    "read = open\nread('/' + 'etc/passwd')", "from pandas import read_csv as r\nr('/etc/passwd')",
    "import pandas\npandas.read_csv('a/../../../etc/passwd')",
    "import pandas\npandas.read_csv(filepath_or_buffer=x)",
    "import pandas\npandas.io.common.os.system('id')", "import pandas as pd\npd.read_pickle('x.pkl')",
    "import pandas as pd\npd.eval('1')", "df.query('@f()')", "df.to_pickle('x')", "df.to_csv('/srv/x.csv')",
    "import numpy as np\nnp.load('x.npy', allow_pickle=True)", "np.zeros((100000, 100000, 10))",
    "import os", "os.system('id')", "import random\nrandom._os.system('id')", "getattr(x, 'y')()",
    "__import__('os')", "().__class__", "'{0.__class__}'.format(x)", "exec('1')", "eval(x)", "input()",
    "f'{47:c}'", "'%c' % 47", "(47).to_bytes(1, 'big')", "b'x'.hex()", "chr(47)", "x = [0] * 10**10",
    "import itertools\nx = []\nfor i in itertools.count():\n    x.append(i)",
    "x = 'ab'\nwhile x:\n    x += x",
    "while True:\n    x.append(1)", "import sklearn.datasets\nsklearn.datasets.fetch_openml('x')",
    "def f(os):\n    pass\nos.remove('/etc/x')", "for eval in (1,):\n    pass\neval('1')",
    "import json as os\nimport requests", "from . import x", "from os import *", "client.base_url = 'x'",
    "import time\ntime.sleep.__globals__", "load(x, download=True)", "x.execute('drop table t')",
    "foo('select a from b')", "globals()['x']",
    "import matplotlib.cbook\nmatplotlib.cbook.get_sample_data('x')",
    "import operator\noperator.methodcaller('x')", "async def f():\n    pass", "help()", "type('X', (), {})",
]  # fmt: skip


@cache
def _load_sources() -> tuple[str, ...]:
    """Return the Python of all sets, harmless or not, and of the hostile programs."""
    found = [one.source for path in sorted(FOLDER.glob("*.jsonl")) for one in load_set(path)]
    for path in sorted(_HERE.glob("*.yaml")):
        content = load_golden(path)
        found += _iter_texts(content) if isinstance(content, dict) else ()
    for folder in (_HERE.parents[1] / "hostile", _HERE.parents[1] / "golden" / "scanners"):
        found += [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.rglob("*.py"))]
    return tuple(found)


def _iter_texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for inner in (
        content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    ):
        yield from _iter_texts(inner)


def _list_missed(
    sources: Iterator[str] | tuple[str, ...], boundary: Boundary
) -> tuple[int, list[tuple[str, Finding]]]:
    """Return how many programs only compute, and what reading them reports all the same."""
    count, missed = 0, list[tuple[str, Finding]]()
    for text in sources:
        source = Source("python", text)
        module = source.python.module
        if module is None or not is_plain(source.python_nodes, boundary):
            continue
        count += 1
        report = Report()
        python.check_program(Context(boundary, report, clock() + 60), text, module, source.python_nodes)
        missed += [(text, one) for one in report.list_findings()]
    return count, missed


@pytest.mark.parametrize("policy", ["default", "data-analysis", "devops", "support", "read-only-sql"])
def test_no_program_of_any_set_is_taken_for_one_that_only_computes(policy: str) -> None:
    boundary = Boundary(Policy() if policy == "default" else load_policy(policy))

    _, missed = _list_missed(_load_sources(), boundary)

    assert not missed


@pytest.mark.parametrize("package", ["networkx", "pandas"])
def test_examples_of_documentation_that_only_compute_have_no_finding(package: str) -> None:
    count, missed = _list_missed(iter_package_cells(package), _BOUNDARY)

    assert count > 300
    assert not missed


@pytest.mark.parametrize("name", _PLAIN)
def test_what_only_computes_is_not_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "check_program", pytest.fail)

    assert Pipeline().scan("python", _PLAIN[name]).verdict is Verdict.ALLOW


@given(st.sampled_from([*_PLAIN.values()]), st.sampled_from(_LINES), st.booleans())
def test_one_line_that_reaches_out_makes_a_program_one_to_read(program: str, line: str, first: bool) -> None:
    text = f"{line}\n{program}" if first else f"{program}\n{line}"

    assert not is_plain(Source("python", text).python_nodes, _BOUNDARY)


@given(st.lists(st.sampled_from([*_PLAIN.values(), *_LINES, *_load_sources()]), min_size=1, max_size=3))
def test_mixtures_of_programs_that_only_compute_have_no_finding(programs: list[str]) -> None:
    _, missed = _list_missed(("\n".join(programs),), _BOUNDARY)

    assert not missed


@pytest.mark.parametrize(
    "policy",
    [Policy(denied_modules=frozenset({"json"})), Policy(denied_calls=frozenset({"json.load"}))],
)
def test_what_a_policy_denies_is_read(policy: Policy) -> None:
    source = Source("python", _PLAIN["files inside"])

    assert not is_plain(source.python_nodes, Boundary(policy))
