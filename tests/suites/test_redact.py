from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import RunEvaluation
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.secret_formats import FORMATS, iter_secrets, to_python_pattern
from spanproof.suites import SuiteError, build_case, iter_promotions, load_suite, promote_run
from spanproof.suites.promote import Change, Promoting
from spanproof.suites.redact import build_redacted_case
from spanproof.trace import ExecutedCode, Payload, Span, SpanKind, StepInfo, ToolCall, Trace, trace_of

TRACE_ID, RUN_ID = "6" * 32, "b" * 16
KEY = "sk_" + "live_" + "9fQ2mX7bT4vK8pL3nR6w"
GITHUB = "gh" + "p_" + "Zk3v9Qw7Lx2Rt8Yb5Nm1Cd4Fg6Hj0Ps2Ua7W"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PEM = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----"
PASSWORD = "Tr0ub4dor-and-3-more"


def leaking(*, task: str = "Charge the card", key: str = KEY) -> Trace:
    """A run whose code holds a key and a password; the key is in a call, an output and the answer, too."""
    code = f"password = '{PASSWORD}'\nprint(charge('{key}'))"

    def span(number: int, parent: str | None, name: str, kind: SpanKind, **more: object) -> Span:
        span_id = RUN_ID if parent is None else f"{number:016x}"
        at = 1_790_000_000_000_000_000 + number * 1_000_000
        return Span(TRACE_ID, span_id, parent, name, kind, at, at + 500_000, "spanproof", **more)

    said = f"charged with {key} and {GITHUB}\n{PEM}\n"
    return trace_of(
        [
            span(0, None, "shop", SpanKind.AGENT, agent="shop", input=Payload(task, task),
                 output=Payload(f"used {key}", f"used {key}"), attributes={"raw": f"x {key}".encode()}),
            span(1, RUN_ID, "Step 1", SpanKind.CHAIN, step=StepInfo(1), observation=said,
                 code=ExecutedCode(code, "spanproof.code.source", "python", logs=said)),
            span(2, f"{1:016x}", "charge", SpanKind.TOOL, input=Payload(f'"{key}"', key),
                 tool=ToolCall("charge", {"args": [key], "kwargs": {}}), output=Payload(said, said)),
        ]
    )  # fmt: skip


@pytest.fixture(scope="module")
def blind() -> Engine:
    return Engine(pipeline=Pipeline(), sandbox=None, replay_disabled_reason="not needed here")


def written(suite: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(suite.rglob("*")) if path.is_file())


def test_no_file_of_a_promoted_case_holds_a_secret(blind, suite):
    (promotion,) = iter_promotions([(blind.evaluate(leaking()), RUN_ID)], suite)
    text = written(suite)
    for secret in (KEY, GITHUB, BODY, PASSWORD):
        assert secret not in text
        assert secret[6:] not in text
    assert promotion.redacted >= 4
    assert promotion.case.trace is not None
    raw = promotion.case.trace.by_id[RUN_ID].attributes["raw"]
    assert isinstance(raw, bytes)
    assert KEY.encode() not in raw


def test_a_made_up_key_is_one_key_everywhere_and_is_found_again(blind, suite):
    case = promote_run(blind.evaluate(leaking()), RUN_ID, suite)
    (snippet,) = case.snippets
    (found,) = re.findall(r"charge\('([^']+)'\)", snippet.source)
    assert re.fullmatch(r"sk_live_[0-9A-Za-z]{20}", found)
    assert snippet.tape[0].args == (found,)
    assert case.trace is not None
    again = blind.evaluate(case.trace).runs[0]
    before = blind.evaluate(leaking()).runs[0]
    rules = [
        sorted(each.rule for scan in run.scans.values() for each in scan.findings) for run in (again, before)
    ]
    assert rules[0] == rules[1]
    assert [case] == load_suite(suite)


def rules_of(run: RunEvaluation) -> list[str]:
    return sorted(each.rule for scan in run.scans.values() for each in scan.findings)


def test_redaction_is_the_same_each_time(blind, suite, tmp_path):
    promote_run(blind.evaluate(leaking()), RUN_ID, suite)
    other = tmp_path / "other" / "shop"
    promote_run(blind.evaluate(leaking()), RUN_ID, other)
    assert written(suite) == written(other)
    another_key = "sk_" + "live_" + "0aB1cD5eF0gH1iJ0kL1m"
    a, _ = build_redacted_case(build_case(blind.evaluate(leaking()), RUN_ID), blind.evaluate(leaking()))
    with_other = blind.evaluate(leaking(key=another_key))
    b, _ = build_redacted_case(build_case(with_other, RUN_ID), with_other)
    assert KEY not in str(a)
    assert another_key not in str(b)


def test_patterns_of_the_user_are_replaced_as_well(blind, suite):
    evaluation = blind.evaluate(leaking(task="Charge ann@example.com for order A-17"))
    how = Promoting(redact=(r"[\w.]+@[\w.]+",))
    (promotion,) = iter_promotions([(evaluation, RUN_ID)], suite, how)
    assert "ann@example.com" not in written(suite)
    assert re.fullmatch(r"Charge [a-z]{3}@[a-z]{7}\.[a-z]{3} for order A-17", promotion.case.task or "")


def test_a_pattern_that_is_none_is_named(blind, suite):
    with pytest.raises(SuiteError, match=r"'\(' is no pattern of RE2"):
        list(iter_promotions([(blind.evaluate(leaking()), RUN_ID)], suite, Promoting(redact=("(",))))
    assert not suite.exists()


def test_a_case_without_secrets_is_not_touched(evaluation):
    case = build_case(evaluation, "a" * 16)
    assert build_redacted_case(case, evaluation) == (case, 0)


def test_promoting_a_redacted_run_again_changes_nothing(blind, suite):
    evaluation = blind.evaluate(leaking())
    promote_run(evaluation, RUN_ID, suite)
    before = written(suite)
    (promotion,) = iter_promotions([(evaluation, RUN_ID)], suite)
    assert promotion.change is Change.KNOWN
    (promotion,) = iter_promotions([(evaluation, RUN_ID)], suite, Promoting(replace=True))
    assert promotion.change is Change.REPLACED
    assert written(suite) == before


@given(st.data())
def test_every_format_keeps_its_form_and_loses_its_value(blind, data):
    form = data.draw(
        st.sampled_from([each for each in FORMATS if each.name != "private-key" and not each.named])
    )
    secret = data.draw(st.from_regex(to_python_pattern(form.pattern), fullmatch=True).filter(str.isascii))
    evaluation = blind.evaluate(leaking(task=f"Charge <{secret}> now", key="none"))
    case, _ = build_redacted_case(build_case(evaluation, RUN_ID), evaluation)
    text = f"<{secret}>"
    known = {text[each.start : each.end] for each in iter_secrets(text, text.lower()) if not each.form.named}
    for value in known:
        assert value not in (case.task or "")
