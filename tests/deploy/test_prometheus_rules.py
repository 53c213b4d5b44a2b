from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "rules.yaml"
TESTS = Path(__file__).with_name("prometheus_rules_test.yaml")

pytestmark = pytest.mark.peers


def promtool(directory: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["promtool", *arguments], cwd=directory, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rules_are_valid(tmp_path: Path) -> None:
    shutil.copy(RULES, tmp_path)
    promtool(tmp_path, "check", "rules", "rules.yaml")


def test_the_rules_record_and_fire_as_they_should(tmp_path: Path) -> None:
    shutil.copy(RULES, tmp_path)
    shutil.copy(TESTS, tmp_path)
    promtool(tmp_path, "test", "rules", TESTS.name)
