"""A package that pip installed adds its scanner by entry point; bandit advises where the policy says so."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_MODULE = """
from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.rules import Rule
from spanproof.sandbox.scanners.scanner import Scanner

RULE = Rule(Severity.HIGH, Verdict.DENY, "Wait for the event.")

def scan(context, source):
    at = source.text.find("sleep(")
    if at >= 0:
        context.report_finding("user.sleep", RULE, source.place(at, at + 5), "sleeps")

def scanners():
    return [Scanner("no-sleep", frozenset({"python"}), scan)]
"""


def _wheel(directory: Path, module: str) -> Path:
    """The smallest wheel there is: one module, its metadata and its entry point."""
    wheel, info = directory / "no_sleep-1.0-py3-none-any.whl", "no_sleep-1.0.dist-info"
    files = {
        "no_sleep.py": module,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: no-sleep\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[spanproof.scanners]\nno-sleep = no_sleep:scanners\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
        archive.writestr(f"{info}/RECORD", record)
    return wheel


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A directory that pip installed the package into."""
    target = tmp_path / "site"
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
        "--disable-pip-version-check", "--target", str(target), str(_wheel(tmp_path, _MODULE)),
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=120)
    return target


def test_an_installed_package_adds_its_scanner(site: Path) -> None:
    line = json.dumps({"id": 1, "language": "python", "source": "import time\ntime.sleep(1)"})
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from spanproof.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "scan", "--jsonl"],
        input=line, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    answer = json.loads(done.stdout)
    assert answer["verdict"] == "deny", done.stderr
    assert [one["rule"] for one in answer["findings"]] == ["user.sleep"]


def test_an_installed_package_that_cannot_be_loaded_is_named(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "no_sleep.py").write_text("import absent_module", encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))

    with pytest.raises(PolicyError, match=r"entry point 'no-sleep'.*absent_module"):
        Pipeline()


def test_toxicity_advises_and_never_denies() -> None:
    pipeline = Pipeline(Policy(toxicity=True))
    scan = pipeline.scan("text", "Thank you for waiting. You are a stupid idiot.\nThe order ships today.")

    (toxic,) = [one for one in scan.findings if one.rule == "text.toxic"]
    assert (toxic.line, toxic.column, toxic.severity) == (1, 24, Severity.ADVISORY)
    assert scan.verdict is Verdict.ALLOW
    assert not pipeline.scan("python", "x = 'You are a stupid idiot.'").findings


def test_bandit_advises_and_never_denies() -> None:
    source = "import subprocess\nsubprocess.call('ls -l', shell=True)  # nosec\neval('1 + 1')\n"
    scan = Pipeline(Policy(bandit=True)).scan("python", source)

    reported = [one for one in scan.findings if one.rule.startswith("bandit.")]
    assert {one.cwe for one in reported} == {78}
    assert {(one.line, one.severity, one.verdict) for one in reported} <= {
        (line, Severity.ADVISORY, Verdict.ALLOW) for line in (1, 2, 3)
    }
    assert scan.verdict is Verdict.ALLOW
