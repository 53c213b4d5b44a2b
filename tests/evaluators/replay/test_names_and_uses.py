from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.replay.names import list_unbound_calls, read_names, without_code_after_answer
from spanproof.evaluators.replay.uses import read_uses


def used(source, aliases=None):
    return [use.name for use in read_uses(source, aliases or {})[0]]


def test_names_are_what_is_bound_used_and_called():
    names = read_names("import math as m\nfor i in rows:\n    total = f(i)\n")
    assert names.bound == {"m", "i", "total"}
    assert names.imported == {"m"}
    assert names.free == {"rows", "f"}
    assert names.called == {"f"}


def test_a_cut_source_uses_every_word_it_shows():
    names = read_names("total = price(item")
    assert not names.parsed
    assert {"total", "price", "item"} <= names.used


def test_a_called_name_that_no_snippet_defines_is_a_tool():
    snippets = [read_names("def f(): ...\nf(); price(1); print(2)"), read_names("g = f\ng()")]
    assert list_unbound_calls(snippets) == {"price"}


def test_after_a_star_import_no_name_is_known_to_be_undefined():
    assert list_unbound_calls([read_names("from math import *\nsqrt(2)")]) == frozenset()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\nfinal_answer(\n  x\n)\nraise SystemExit", "x = 1\nfinal_answer(\n  x\n)\n"),
        ("y = final_answer(1)\nprint(2)", "y = final_answer(1)\n"),
        ("if x:\n    final_answer(1)\nprint(2)", "if x:\n    final_answer(1)\nprint(2)"),
        ("final_answer(", "final_answer("),
    ],
)
def test_what_is_behind_the_final_answer_did_not_run(source, expected):
    assert without_code_after_answer(source) == expected


@given(st.text(max_size=40))
def test_any_text_has_names_and_uses(text):
    read_names(text)
    read_uses(text, {})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import itertools\nitertools.flatten([])", ["itertools", "itertools.flatten"]),
        ("from itertools import flatten", ["itertools", "itertools.flatten"]),
        ("import os.path as p\np.join('a')", ["os.path", "os.path.join"]),
        ("import xml.dom\nxml.dom.Node", ["xml.dom", "xml.dom.Node"]),
        (
            "from datetime import datetime\ndatetime.now()",
            ["datetime", "datetime.datetime", "datetime.datetime.now"],
        ),
        ("import math\nmath.sqrt(2).is_integer()", ["math", "math.sqrt"]),
        ("import os\nos.environ['A'].lower()", ["os", "os.environ"]),
        ("from . import a\nfrom __future__ import annotations", []),
        ("import math\nmath.tau = 3", ["math"]),
        ("import math\nmath = 3\nmath.flatten", ["math"]),
        ("try:\n    import fastjson\nexcept ImportError:\n    import json", ["json"]),
        ("import math\nif hasattr(math, 'cbrt'):\n    math.cbrt(8)", ["math"]),
        ("x.y.z", []),
        ("import", []),
    ],
)
def test_uses_are_imported_modules_and_the_chains_that_start_at_them(source, expected):
    assert used(source) == expected


def test_aliases_carry_over_to_the_next_snippet():
    _, aliases = read_uses("import pandas as pd", {})
    assert used("pd.read_cvs('a')", aliases) == ["pandas.read_cvs"]
