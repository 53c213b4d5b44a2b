from __future__ import annotations

import json
import os

import pytest
import yaml

from spanproof.cli.app import run
from spanproof.config.model import Config
from spanproof.config.reference import build_reference


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):

    for name in [name for name in os.environ if name.startswith("SPANPROOF_")]:
        monkeypatch.delenv(name)


def test_a_valid_file_passes(tmp_path, capsys) -> None:
    path = tmp_path / "good.yaml"
    path.write_text("assembly: {quiet_s: 2}\nalerts: [{name: a, layer: groundedness}]\n")
    assert run(["config", "check", str(path)]) == 0
    assert run(["config", "check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {
        "file": str(path),
        "valid": True,
        "warnings": [],
    }


def test_a_wrong_file_exits_with_2_and_lists_every_mistake(tmp_path, capsys) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("store: {locaton: x}\nalerts: [{name: a, layer: groundedness, treshold: 0.3}]\n")
    assert run(["config", "check", str(path)]) == 2
    reported = capsys.readouterr().err
    assert "did you mean 'store.location'?" in reported
    assert run(["config", "check", str(path), "--json"]) == 2
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert [problem["place"] for problem in problems] == [f"{path}:1", f"{path}:2"]


def test_alert_rules_are_checked_too(tmp_path, capsys) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text("alerts:\n  - {name: a, layer: groundedness, treshold: 0.3}\n")
    assert run(["config", "check", str(path)]) == 2
    assert "did you mean 'alerts.0.threshold'?" in capsys.readouterr().err


def test_two_alert_rules_of_one_name_are_refused(tmp_path, capsys) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text("alerts: [{name: a, layer: groundedness}, {name: a, layer: boundary}]\n")
    assert run(["config", "check", str(path)]) == 2
    assert "alerts.1.name: 'a' is the name of an earlier rule too" in capsys.readouterr().err


def test_what_holds_is_shown_with_secrets_masked_and_can_be_read_back(capsys, monkeypatch) -> None:
    monkeypatch.setenv("SPANPROOF_ASSEMBLY__QUIET_S", "2")
    assert run(["config", "show", "--set", "tokens=[hush]"]) == 0
    shown = capsys.readouterr().out
    assert "hush" not in shown
    assert yaml.safe_load(shown)["assembly"]["quiet_s"] == 2
    assert Config.model_validate(yaml.safe_load(shown)).assembly.quiet_s == 2


def test_a_flag_that_is_no_setting_says_how_to_write_one(capsys) -> None:
    assert run(["config", "show", "--set", "assembly"]) == 2
    assert "KEY=VALUE" in capsys.readouterr().err


def test_the_reference_is_printed(capsys) -> None:
    assert run(["config", "reference"]) == 0
    assert capsys.readouterr().out == build_reference(Config)


def test_serve_with_a_wrong_configuration_starts_nothing(capsys) -> None:
    assert run(["serve", "--set", "sandbox.worker=3"]) == 2
    assert "did you mean 'sandbox.workers'?" in capsys.readouterr().err
