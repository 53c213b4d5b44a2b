"""A patch in an answer is applied to the files that it is about."""

from __future__ import annotations

import pytest

from spanproof.evaluators.casetests import CaseTests, build_patched_files, build_work_tests
from spanproof.evaluators.casetests.patch import compute_patched_files

SHOP = """\
def total(prices):
    # The sum.
    return sum(prices[1:])


def count(prices):
    return len(prices)
"""
FIXED = SHOP.replace("prices[1:]", "prices")
DIFF = """\
--- a/shop.py
+++ b/shop.py
@@ -1,3 +1,3 @@
 def total(prices):
     # The sum.
-    return sum(prices[1:])
+    return sum(prices)
"""
NEW = "--- /dev/null\n+++ b/src/tax.py\n@@ -0,0 +1,2 @@\n+def tax(total):\n+    return total * 0.2\n"
APPENDED = "--- a/shop.py\n+++ b/shop.py\n@@ -7,1 +7,3 @@\n     return len(prices)\n+\n+LIMIT = 3\n"


@pytest.mark.parametrize(
    "answer",
    [
        DIFF,
        f"I mended it:\n\n```diff\n{DIFF}```\nAll tests pass.",
        f"~~~~ patch\ndiff --git a/shop.py b/shop.py\nindex 1..2 100644\n{DIFF}~~~~",
        DIFF.replace("-1,3 +1,3", "-90,7 +90,2"),
        DIFF.replace("@@ -1,3 +1,3 @@", "@@ @@"),
        DIFF.replace("a/shop.py", "shop.py").replace("b/shop.py", "shop.py\t2026-01-01"),
        DIFF.replace("sum.\n-", "sum.   \n-"),
    ],
)
def test_a_patch_is_applied_as_models_write_it(answer: str) -> None:
    assert compute_patched_files(answer, {"shop.py": SHOP}) == {"shop.py": FIXED}


def test_several_files_are_patched_made_moved_and_deleted() -> None:
    moved = "--- a/old.py\n+++ b/new.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    gone = "--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y = 1\n"
    files = {"shop.py": SHOP, "old.py": "x = 1\n", "gone.py": "y = 1\n"}
    answer = f"```diff\n{DIFF}```\nand\n```diff\n{NEW}{moved}{gone}```"
    after = compute_patched_files(answer, files)
    assert after is not None
    assert after.pop("src/tax.py").strip() == "def tax(total):\n    return total * 0.2"
    assert after == {"shop.py": FIXED, "new.py": "x = 2\n"}


@pytest.mark.parametrize(("patch", "after"), [(DIFF, FIXED), (APPENDED, f"{SHOP}\nLIMIT = 3\n")])
def test_a_patch_that_the_files_hold_already_changes_nothing(patch: str, after: str) -> None:
    first = compute_patched_files(patch, {"shop.py": SHOP})
    assert first is not None
    assert first["shop.py"].split() == after.split()
    assert compute_patched_files(patch, first) == first


@pytest.mark.parametrize(
    "answer",
    [
        "The sum leaves the first price out.",
        "```python\nx = 1\n```",
        DIFF.replace("The sum", "The product"),
        DIFF + NEW.replace("/dev/null", "a/missing.py"),
        DIFF.replace("shop.py", "../shop.py"),
        DIFF.replace("a/shop.py", "/etc/passwd"),
        "--- a/shop.py\n+++ b/shop.py\n",
    ],
)
def test_what_is_no_patch_or_does_not_fit_is_not_applied(answer: str) -> None:
    assert compute_patched_files(answer, {"shop.py": SHOP}) is None


def test_tests_see_the_patched_files_and_stay_hidden() -> None:
    unit = "from shop import total\ndef test_total():\n    assert total([1, 2]) == 3\n"
    tests = CaseTests.model_validate({"unit": unit, "files": {"shop.py": SHOP, "prices.csv": "1,2\n"}})
    hostile = "--- /dev/null\n+++ b/prices.csv\n@@ -0,0 +1 @@\n+9,9\n"
    left = build_patched_files(f"```diff\n{DIFF}{hostile}```", {"shop.py": SHOP}, {})
    files = build_work_tests(tests, {"shop.py": SHOP}, left).files
    assert files["shop.py"] == FIXED
    assert files["prices.csv"] == "1,2\n"


def test_what_is_no_text_stays_beside_a_patch() -> None:
    left = {"shop.py": SHOP.encode(), "logo.png": b"\xff\xfe"}
    assert build_patched_files(DIFF, {}, left) == {"shop.py": FIXED.encode(), "logo.png": b"\xff\xfe"}
    assert build_patched_files({"total": 3}, {}, left) == left
