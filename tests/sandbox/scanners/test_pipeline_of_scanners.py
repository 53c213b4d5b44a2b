from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners import grammar
from spanproof.sandbox.scanners.context import Context, OutOfTime
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.pipeline import MAX_CHARACTERS, Pipeline, Scanner
from spanproof.sandbox.scanners.source import Source


def _raises(context: Context, source: Source) -> None:
    raise RuntimeError("broken rule")


def _out_of_time(context: Context, source: Source) -> None:
    raise OutOfTime("the time budget is spent")


def _quiet(context: Context, source: Source) -> None:
    pass


def test_a_scanner_that_raises_denies() -> None:
    scan = Pipeline(scanners=[Scanner("mine", frozenset({"python"}), _raises)]).scan("python", "x = 1")

    assert scan.verdict is Verdict.DENY
    assert scan.findings[0].rule == "scanner_error"
    assert "mine" in scan.findings[0].message
    assert "broken rule" in scan.findings[0].message


def test_a_scanner_that_runs_out_of_time_leaves_the_snippet_to_review() -> None:
    scan = Pipeline(scanners=[Scanner("slow", frozenset({"python"}), _out_of_time)]).scan("python", "x = 1")

    assert scan.verdict is Verdict.REVIEW
    assert scan.findings[0].rule == "too-complex"
    assert "the time budget is spent" in scan.findings[0].message


def test_a_missing_parser_denies_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar._load_language.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)

    scan = Pipeline().scan("bash", "ls")

    assert scan.verdict is Verdict.DENY
    assert scan.findings[0].rule == "scanner_error"
    assert "tree_sitter_bash" in scan.findings[0].message


def test_a_scanner_is_run_for_its_own_languages_only() -> None:
    pipeline = Pipeline(
        scanners=[Scanner("mine", frozenset({"sql"}), _raises), Scanner("other", None, _quiet)]
    )

    assert pipeline.scan("python", "x").verdict is Verdict.REVIEW
    assert pipeline.scan("sql", "x").verdict is Verdict.DENY


def test_a_language_no_scanner_reads_is_reviewed() -> None:
    scan = Pipeline().scan("cobol", "DISPLAY 'x'.")

    assert scan.verdict is Verdict.REVIEW
    assert [finding.rule for finding in scan.findings] == ["language.unscanned"]


@pytest.mark.parametrize(
    ("alias", "language"), [("py", "python"), ("Python3", "python"), ("sh", "bash"), ("js", "javascript")]
)
def test_a_language_has_other_names(alias: str, language: str) -> None:
    source = "cat /etc/passwd"

    assert Pipeline().scan(alias, source).findings == Pipeline().scan(language, source).findings


def test_an_advisory_finding_alone_allows() -> None:
    scan = Pipeline().scan("python", "password = 'correct-horse'\nprint(len(password))")

    assert scan.verdict is Verdict.ALLOW
    assert [finding.rule for finding in scan.findings] == ["python.weakness.credential", "secret.assigned"]


def test_a_source_that_is_too_long_is_denied_at_once() -> None:
    scan = Pipeline().scan("python", "x" * (MAX_CHARACTERS + 1))

    assert scan.verdict is Verdict.DENY
    assert [finding.rule for finding in scan.findings] == ["source.too-large"]
    assert scan.elapsed_us < 100_000


def test_findings_name_place_and_remedy() -> None:
    scan = Pipeline().scan("python", "import os\nx = 'ä'; os.remove('/etc/x')\n")

    finding = scan.findings[0]
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (2, 10, 2, 29)
    assert finding.severity is Severity.CRITICAL
    assert "/etc/x" in finding.message
    assert finding.remedy


def test_a_finding_in_nested_code_is_at_the_outer_call() -> None:
    scan = Pipeline().scan("python", "import os\n\nos.system('''\n\ncat /etc/passwd''')")

    assert [(finding.rule, finding.line) for finding in scan.findings] == [("shell.file.read-outside", 3)]


def test_a_pipeline_is_shared_between_threads() -> None:
    pipeline = Pipeline()
    sources = [("python", f"open('/etc/{n}')") for n in range(40)] + [
        ("bash", f"cat /etc/{n}") for n in range(40)
    ]

    with ThreadPoolExecutor(8) as pool:
        scans = list(pool.map(lambda pair: pipeline.scan(*pair), sources))

    for (_, source), scan in zip(sources, scans, strict=True):
        assert scan.verdict is Verdict.DENY
        assert source.strip("open('cat )").rpartition("/")[2] in scan.findings[0].message


def test_the_policy_decides() -> None:
    policy = Policy(
        hosts=("data.test",), read_roots=("/work", "/srv/data"), environment=frozenset({"LANG"}),
        sql_verbs=frozenset({"select", "insert"}), sql_tables=frozenset({"sales"}),
        denied_calls=frozenset({"pandas.read_sql"}), allowed_commands=frozenset({"frobnicate"}),
        allowed_modules=frozenset({"pandas", "requests", "os"}),
    )  # fmt: skip
    pipeline = Pipeline(policy)

    def verdict(language: str, source: str) -> Verdict:
        return pipeline.scan(language, source).verdict

    assert verdict("python", "import requests\nrequests.get('https://data.test/x')") is Verdict.ALLOW
    assert verdict("python", "import requests\nrequests.get('https://api.github.com/x')") is Verdict.DENY
    assert verdict("python", "import pandas as pd\npd.read_csv('/srv/data/x.csv')") is Verdict.ALLOW
    assert verdict("python", "import pandas as pd\npd.DataFrame().to_csv('/srv/data/x.csv')") is Verdict.DENY
    assert verdict("python", "import os\nos.environ['LANG']") is Verdict.ALLOW
    assert verdict("python", "import os\nos.environ['HOME']") is Verdict.DENY
    assert verdict("python", "import pandas\npandas.read_sql('select 1', c)") is Verdict.DENY
    assert verdict("python", "import exotic\nexotic.run()") is Verdict.REVIEW
    assert verdict("bash", "frobnicate x") is Verdict.ALLOW
    assert verdict("sql", "INSERT INTO sales VALUES (1)") is Verdict.ALLOW
    assert verdict("sql", "SELECT * FROM salaries") is Verdict.DENY


def test_an_allowed_call_is_not_judged() -> None:
    policy = Policy(allowed_calls=frozenset({"os.getenv"}))

    assert Pipeline(policy).scan("python", "import os\nos.getenv('X')").verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("ruby", "ruby"),
        ("rb", "ruby"),
        ("golang", "go"),
        ("PHP", "php"),
        ("cpp", "c++"),
        ("rs", "rust"),
        ("r", "r"),
    ],
)
def test_a_language_that_no_scanner_reads_is_named_and_reviewed(name: str, reported: str) -> None:
    scan = Pipeline().scan(name, 'system("rm -rf /")')

    assert scan.verdict is Verdict.REVIEW
    assert [(one.rule, one.message) for one in scan.findings] == [
        ("language.unscanned", f"no scanner reads {reported}")
    ]
