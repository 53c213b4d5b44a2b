"""Looking names up in the real sandbox's runtime."""

from __future__ import annotations

import pytest

from spanproof.evaluators.replay import ApiIndex


@pytest.fixture
def report(build, jail):
    index = ApiIndex(jail)

    def look_up(*sources, **fields):
        snippets = [build.snippet(source, **fields) for source in sources]
        reports = index.get_reports(build.run(snippets))
        return [reports[snippet.id] for snippet in snippets]

    return look_up


@pytest.mark.parametrize(
    "source",
    [
        "import os.path\nos.path.join('a')",
        "import xml.etree.ElementTree as ET\nET.fromstring('<a/>')",
        "import xml\nxml.dom.minidom",
        "from collections import *",
        "import datetime as dt\ndt.datetime.now().nonsense",
        "try:\n    import nosuchpackage\nexcept ImportError:\n    pass",
        "print(1)",
        "import numpy as np\nnp.random.default_rng(1).normal",
    ],
)
def test_what_exists_is_not_missing(report, source):
    (found,) = report(source)
    assert (found.missing, found.not_installed) == ((), ())


@pytest.mark.parametrize(
    ("source", "name", "line", "is_module"),
    [
        ("from itertools import flatten", "itertools.flatten", 1, False),
        ("import math\n\nmath.square(2)", "math.square", 3, False),
        ("import json\njson.parse('{}')", "json.parse", 2, False),
        ("from datetime import datetime\ndatetime.from_iso('x')", "datetime.datetime.from_iso", 2, False),
        ("import os.paths", "os.paths", 1, True),
        ("import numpy as np\nnp.mean_of([1])", "numpy.mean_of", 2, False),
    ],
)
def test_a_made_up_api_is_found_with_its_line(report, source, name, line, is_module):
    (found,) = report(source)
    (missing,) = found.missing
    assert (missing.name, missing.line, missing.is_module) == (name, line, is_module)


PANDAS = "import pandas as pd\nimport numpy as np\n"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (f"{PANDAS}df = pd.DataFrame({{'a': [1]}})\ndf.flatten()", "pandas.DataFrame.flatten"),
        (
            f"{PANDAS}df = pd.read_csv('x.csv')\nprint(df.head().to_records_list())",
            "pandas.DataFrame.to_records_list",
        ),
        (f"{PANDAS}a = np.array([1])\nif len(a):\n    a.push(2)", "numpy.ndarray.push"),
        ("xs = [1]\nfor i in range(3):\n    xs.push(i)", "builtins.list.push"),
        ("'a,b'.split(',').first()", "builtins.list.first"),
        ("d = {}\nprint(d.has_key(1))", "builtins.dict.has_key"),
        ("from pathlib import Path\np = Path('x')\np.read_lines()", "pathlib.Path.read_lines"),
        ("import re\nre.compile('a').matches('b')", "re.Pattern.matches"),
        ("import datetime as dt\nday = dt.date(2020, 1, 1)\nday.format('x')", "datetime.date.format"),
    ],
)
def test_an_attribute_its_type_does_not_have_is_found(report, source, name):
    (found,) = report(source)
    assert [missing.name for missing in found.missing] == [name]


@pytest.mark.parametrize(
    "source",
    [
        f"{PANDAS}df = pd.DataFrame({{'a': [1]}})\ndf.total\ndf.groupby('a').flatten()",
        f"{PANDAS}df = pd.read_csv('x', chunksize=3)\ndf.chunks()",
        f"{PANDAS}df = pd.DataFrame()\ndf = other(df)\ndf.flatten()",
        f"{PANDAS}import janitor\ndf = pd.DataFrame()\ndf.clean_names()",
        f"{PANDAS}pd.DataFrame.flatten = 1\ndf = pd.DataFrame()\ndf.flatten()",
        f"{PANDAS}df = pd.DataFrame()\nif hasattr(df, 'flatten'):\n    df.flatten()",
        "xs = [1]\ntry:\n    xs.push(1)\nexcept AttributeError:\n    xs.append(1)",
        "xs = [1]\ndef f(xs):\n    xs.push(1)",
        "xs = [1]\nfor xs in things():\n    xs.push(1)",
        "def list(x): return x\nlist(1).push(2)",
        "xs = [1]\ndef f():\n    global xs\n    xs = Stack()\nf()\nxs.push(1)",
        "xs = []\nxs += [1]\nxs.push(1)",
        "from deques import *\nxs = [1]\nxs.push(1)",
        "x = 'a'.upper().title().center(9)\nx.nonsense()",
        "from collections import Counter\nc = Counter()\nc.nonsense()",
    ],
)
def test_where_a_type_is_not_certain_nothing_is_said(report, source):
    (found,) = report(source)
    assert found.missing == ()


def test_a_type_known_from_an_earlier_snippet_holds_until_it_may_have_changed(report):
    _, second, _, fourth = report("xs = [1]", "xs.push(2)", "xs = make()", "xs.push(2)")
    assert [missing.name for missing in second.missing] == ["builtins.list.push"]
    assert fourth.missing == ()


def test_a_package_that_is_not_installed_says_nothing_about_its_names(report):
    (found,) = report("import nosuchpackage as n\nn.f()")
    assert (found.missing, found.not_installed) == ((), ("nosuchpackage",))


def test_an_alias_of_an_earlier_snippet_is_followed(report):
    _, second = report("import math as m", "m.square(2)")
    assert [missing.name for missing in second.missing] == ["math.square"]


def test_looking_names_up_runs_no_snippet(report):
    (found,) = report("import json\nopen('/work/trace', 'w').write('x')\njson.dumps(1)\nraise SystemExit")
    assert found.checked == ("json", "json.dumps")


def test_cut_snippets_are_not_looked_up(build, jail):
    snippet = build.snippet("import json", truncated=True)
    assert ApiIndex(jail).get_reports(build.run([snippet])) == {}
