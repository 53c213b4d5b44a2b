"""Tests of JavaScript programs: they run in a sandbox of their own, and data alone crosses."""

from spanproof.sandbox.javascript_tests.run import has_javascript_tests, run_javascript_tests

__all__ = ["has_javascript_tests", "run_javascript_tests"]
