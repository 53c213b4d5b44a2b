from __future__ import annotations

from pathlib import Path

import pytest

from spanproof.sandbox.scanners import catalogue
from spanproof.sandbox.scanners.javascript.effects import CHECKS as SCRIPT_CHECKS
from spanproof.sandbox.scanners.javascript.script import SINKS as SCRIPT_SINKS
from spanproof.sandbox.scanners.python.effects import CHECKS
from spanproof.sandbox.scanners.python.names import METHOD_SINKS, SINKS
from spanproof.sandbox.scanners.reader.effects import check_effects, read_effects
from spanproof.sandbox.scanners.rules import describe_call, get_rule
from spanproof.sandbox.scanners.shell.catalogue import DENIED, FETCH_OPTIONS, OPERANDS

_TABLES = {
    "python/effects.py": ((SINKS, METHOD_SINKS), CHECKS),
    "javascript/effects.py": ((SCRIPT_SINKS,), SCRIPT_CHECKS),
}


@pytest.mark.parametrize("file", _TABLES)
def test_each_effect_of_a_call_is_one_that_is_judged(file: str) -> None:
    tables, checks = _TABLES[file]
    unknown = {
        f"{name}: {effect.kind}"
        for table in tables
        for name, effects in table.items()
        for effect in effects
        if effect.kind.removesuffix("opt") not in {*checks, "deny", "review"}
    }

    assert not unknown, f"give these a check in {file}: {unknown}"


def test_each_rule_that_a_data_file_names_is_in_the_catalogue() -> None:
    named = [
        e.keyword
        for t in (SINKS, METHOD_SINKS, SCRIPT_SINKS)
        for es in t.values()
        for e in es
        if e.kind in {"deny", "review"}
    ]

    for rule in [*named, *DENIED.values()]:
        assert get_rule(rule)
    assert not (missing := [rule for rule in named if not describe_call("f", rule)]), missing


def test_roles_of_operands_and_options_are_known() -> None:
    assert set(OPERANDS.values()) <= {
        "read", "script", "write", "delete", "copy", "move", "link", "permission", "archive", "none"
    }  # fmt: skip
    assert set(FETCH_OPTIONS.values()) == {"write", "read", "data", "valued", "url", "route"}


@pytest.mark.parametrize("text", ["key value\n", "[a]\nkey one\nkey two\n"])
def test_a_malformed_data_file_is_refused_by_its_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.txt").write_text(text)
    monkeypatch.setattr(catalogue, "_DIRECTORY", tmp_path)

    with pytest.raises(ValueError, match=r"broken\.txt, line \d: 'key'"):
        catalogue.read_sections("broken")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("raed 0 path", r"libraries\.txt, line 2: numpy\.load has the kind 'raed'.*did you mean 'read'"),
        (
            "review deserialise",
            r"libraries\.txt, line 2: numpy\.load has the rule 'deserialise'.*'deserialize",
        ),
        ("frobnicate 0", r"the kind 'frobnicate', which is not known; known are: address"),
    ],
)
def test_an_effect_that_nothing_judges_is_refused_when_the_file_is_loaded(
    entry: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libraries.txt").write_text(f"[calls]\nnumpy.load {entry}\n")
    monkeypatch.setattr(catalogue, "_DIRECTORY", tmp_path)
    effects = read_effects(catalogue.read_sections("libraries")["calls"])

    with pytest.raises(ValueError, match=expected):
        check_effects(effects, CHECKS, "libraries")
