from __future__ import annotations

from spanproof.evaluators import lint
from spanproof.evaluators.lint import Lint
from spanproof.trace import Scored, Skipped


def linted(build, *sources, **fields):
    snippets = [build.snippet(source, **fields) for source in sources]
    return [each.outcome for each in Lint().judge(build.evidence(build.run(snippets)), ())]


def test_findings_are_reported_with_their_rules_and_lines_as_advice(build):
    (outcome,) = linted(build, "def f():\n    x = 1\n    return 'a' % (1,)\nprint(undefined)\n")
    assert isinstance(outcome, Scored)
    assert outcome.label is None
    assert outcome.value < 1
    assert "F821" in outcome.explanation
    assert any("line 4" in fact.what for fact in outcome.evidence)


def test_what_other_steps_bind_use_or_call_is_no_finding(build):
    call = build.call("price_of", 4, "tea")
    first, second = linted(
        build, "import os\nprice = price_of('tea')", "print(os.getcwd(), price)", tape=(call,)
    )
    assert (first.value, second.value) == (1.0, 1.0)


def test_a_syntax_error_is_a_finding_and_runs_nothing(build, tmp_path):
    (outcome,) = linted(build, f"open({str(tmp_path / 'x')!r}, 'w')\ndef f(:\n")
    assert "finding" in outcome.explanation
    assert not (tmp_path / "x").exists()


def test_a_snippet_cannot_switch_its_lint_off(build):
    (outcome,) = linted(build, "# ruff: noqa\nprint(undefined)  # noqa")
    assert "F821" in outcome.explanation


def test_without_ruff_it_is_skipped_with_how_to_get_it(build, monkeypatch):
    monkeypatch.setattr(lint.shutil, "which", lambda *args, **kwargs: None)
    (outcome,) = linted(build, "print(1)")
    assert isinstance(outcome, Skipped)
    assert "pip install ruff" in outcome.reason


def test_a_cut_snippet_is_skipped(build):
    (outcome,) = linted(build, "print(", truncated=True)
    assert isinstance(outcome, Skipped)
