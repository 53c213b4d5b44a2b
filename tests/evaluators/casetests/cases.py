"""Tests of a case, written as a document, and code that they hold for."""

from __future__ import annotations

from spanproof.evaluators.casetests import CaseTests, read_tests, run_tests

SORT = '''
def tidy(xs):
    """Sorted, each once.

    >>> tidy([2, 1, 2])
    [1, 2]
    """
    return sorted(set(xs))
'''


def written(**document) -> CaseTests:
    return read_tests(document, "tests.yaml")


def report(build, jail, source, /, **document):
    run = build.run([build.snippet(source)])
    return run_tests(written(**document), run, jail)
