"""Looking names up in the real sandbox's runtime."""

from __future__ import annotations

import pytest

from spanproof.evaluators.replay import ApiIndex


@pytest.fixture
def report(build, jail):
    index = ApiIndex(jail)

    def look_up(*sources, **fields):
        snippets = [build.snippet(source, **fields) for source in sources]
        reports = index.report(build.run(snippets))
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
    assert ApiIndex(jail).report(build.run([snippet])) == {}
