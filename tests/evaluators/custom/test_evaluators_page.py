"""What docs/evaluators.md shows runs as written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from spanproof.config.engine import build_evaluators
from spanproof.config.model import load_config
from spanproof.evaluators.custom import Call, Function, evaluate
from spanproof.evaluators.evaluator import load_installed

PAGE = (Path(__file__).parents[3] / "docs" / "evaluators.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def block(language: str, holding: str) -> str:
    (found,) = [text for kind, text in BLOCKS if kind == language and holding in text]
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evaluators").mkdir()
    (tmp_path / "evaluators/is_short.py").write_text(block("python", "is_short.py"))
    (tmp_path / "evaluators/seen.ts").write_text(block("ts", "seen.ts"))
    (tmp_path / "spanproof.yaml").write_text(block("yaml", "is_short"))
    return tmp_path


def test_the_configuration_is_valid_and_names_the_function(folder):
    (own,) = build_evaluators(load_config(folder / "spanproof.yaml", {}), None)
    assert own.name == "custom:is_short"
    assert yaml.safe_load(block("yaml", "is_short"))["evaluators"][0]["attach"]["share"] == 0.5


@pytest.mark.parametrize(
    ("file", "call", "score"),
    [
        ("is_short.py", Call("four words it is", 3), 0.0),
        ("seen.ts", Call("four", None, {"outputs": ["four"]}), 1.0),
    ],
)
def test_the_functions_answer_the_calls_of_the_page(folder, jail, file, call, score):
    source = (folder / "evaluators" / file).read_text()
    language = "python" if file.endswith(".py") else "typescript"
    (returned,) = evaluate(Function("shown", language, source), [call], jail)
    assert returned.score == score


def test_the_commands_of_the_page_say_what_it_says(folder):
    lines = [line for line in block("sh", "score custom").splitlines() if line.startswith("echo")]
    assert len(lines) == 2
    for line in lines:
        command = line.replace("spanproof", f"{shlex.quote(sys.executable)} -m spanproof.cli", 1)
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert '"score":' in done.stdout


def test_the_class_is_found_by_its_entry_point(tmp_path, monkeypatch):
    (tmp_path / "polite.py").write_text(block("python", "polite.py"))
    info = tmp_path / "polite-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: polite\nVersion: 1.0\n")
    group, line = re.search(r'entry-points\."([^"]+)"\]\n(.*)', block("toml", "entry-points")).groups()
    (info / "entry_points.txt").write_text(f"[{group}]\n{line.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert [each.name for each in load_installed()] == ["acme.polite"]
