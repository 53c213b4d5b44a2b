"""What other runners collect and this one does not is noticed in the text of tests, and nothing else is."""

from __future__ import annotations

import pytest

from spanproof.sandbox.guest.uncollected import find_unrun_reason, list_uncollected

CASE = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(7), 9)\n"
PASSING = "def test_one():\n    assert True\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CASE, "class T (line 2)"),
        ("class T(unittest.IsolatedAsyncioTestCase):\n    async def test_a(self): ...", "class T (line 1)"),
        ("class TestF:\n    def test_a(self): ...", "class TestF (line 1)"),
        ("class TestF:\n    class TestG:\n        def test_a(self): ...", "class TestF (line 1)"),
        (CASE + "class More(T): pass", "class T (line 2), class More (line 4)"),
        ("from shop import ShopTestCase\nclass T(ShopTestCase): pass", "class T (line 2)"),
        ("from shop import Base\nclass Checks(Base):\n    def test_a(self): ...", "class Checks (line 2)"),
        ("if True:\n    class TestF:\n        def test_a(self): ...", "class TestF (line 2)"),
        ("TestShop = Shop.TestCase", "class TestShop (line 1)"),
        ("async def test_a(): ...", "async function test_a (line 1)"),
        ("def test_a(tmp_path): ...", "function test_a with parameters (line 1)"),
        ("def test_a(*, order): ...", "function test_a with parameters (line 1)"),
        ("try:\n    pass\nexcept E:\n    def test_a(): ...", "function test_a inside a block (line 4)"),
        ("match x:\n    case 1:\n        def test_a(): ...", "function test_a inside a block (line 3)"),
        (
            "@pytest.mark.parametrize('x', [1])\ndef test_a(x=2): ...",
            "function test_a with @pytest.mark.parametrize (line 2)",
        ),
        ("@unittest.skip('slow')\ndef test_a(): ...", "function test_a with @unittest.skip (line 2)"),
        ("@mark.xfail\ndef test_a(): ...", "function test_a with @mark.xfail (line 2)"),
        ("@pytest.fixture(autouse=True)\ndef order(): ...", "fixture order (line 2)"),
        ("@fixture\ndef order(): ...", "fixture order (line 2)"),
        ("def setup_module(): ...", "function setup_module (line 1)"),
        ("def load_tests(a, b, c): ...", "function load_tests (line 1)"),
        ("pytestmark = pytest.mark.skip", "pytestmark (line 1)"),
        ("test_a = lambda: f(1)", "function test_a (line 1)"),
        ("from shop.tests import test_a", "imported function test_a (line 1)"),
        ('"""\n>>> f(1)\n2\n"""', "doctest examples (line 1)"),
        ('def helper():\n    """\n    >>> f(1)\n    2\n    """', "doctest examples (line 2)"),
        ("if __name__ == '__main__':\n    unittest.main()", "unittest.main() (line 2)"),
    ],
)
def test_what_is_not_collected_is_named_even_beside_tests_that_are(text: str, found: str) -> None:
    assert ", ".join(map(str, list_uncollected(text))) == found
    assert found.split(",")[0] in (find_unrun_reason(text + "\n" + PASSING, 1) or "")


@pytest.mark.parametrize(
    "text",
    [
        PASSING,
        "def check(candidate):\n    assert candidate(1) == 2",
        "def test_a(x=7, want=9):\n    assert f(x) == want",
        "@given(st.integers())\n@settings(max_examples=5)\ndef test_a(x):\n    assert f(x)",
        "@mock.patch.dict(os.environ, {})\ndef test_a():\n    assert f(1)",
        "for a, b in [(7, 9)]:\n    assert f(a) == b",
        "class TestPoint(NamedTuple):\n    x: int",
        "class TestError(Exception): ...",
        "class Helper:\n    def test_value(self): return 1",
        "from unittest import TestCase\nclass Quiet(TestCase): ...",
        "class TestF:\n    __test__ = False\n    def test_a(self): ...",
        "class TestF:\n    def test_a(self): ...\nTestF.__test__ = False",
        "test_data = [1, 2]\ntest_input = json.loads('1')",
        "from fastapi.testclient import TestClient\nfrom numpy import testing",
        "def outer():\n    def test_inner(x): ...\n    return test_inner",
        "def test(:",
    ],
)
def test_what_is_collected_or_no_test_at_all_is_not_named(text: str) -> None:
    assert list_uncollected(text) == ()


@pytest.mark.parametrize("text", ["", "# nothing", "print(f(7) == 9)", "def helper():\n    assert f(7) == 9"])
def test_no_test_at_all_is_an_error_with_the_remedy(text: str) -> None:
    assert "no test that this runner collects: write functions test_" in (find_unrun_reason(text, 0) or "")
    assert "2 skipped by their author" in (find_unrun_reason(text, 0, skipped=2) or "")


def test_many_of_them_are_counted() -> None:
    text = "".join(f"def test_{number}(x): ...\n" for number in range(5))
    assert "test_2 with parameters (line 3) and 2 more" in (find_unrun_reason(text, 1) or "")
