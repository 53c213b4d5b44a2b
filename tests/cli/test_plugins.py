"""The doctor lists the parts that nothing else needs, and what each lacks."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from spanproof.cli import plugins
from spanproof.cli.app import run
from spanproof.cli.plugins import list_plugins
from spanproof.sandbox import Availability


def test_the_doctor_lists_what_loads_a_plugin_and_what_it_lacks(monkeypatch, capfd):
    monkeypatch.setattr(plugins, "find_spec", lambda name: None if name == "vulture" else object())
    # The probe of a backend is another test's: it builds jails.
    found = Availability("jail", (), tier=None)
    monkeypatch.setattr("spanproof.cli.commands.doctor.list_backends", lambda: ("jail",))
    monkeypatch.setattr(
        "spanproof.cli.commands.doctor.open_backend",
        lambda name, settings: nullcontext(SimpleNamespace(availability=lambda: found)),
    )
    run(["doctor"])
    lines = capfd.readouterr().out.splitlines()
    assert "benchmarks, loaded by spanproof bench: can run here" in lines
    lacking = "structural metrics, loaded by evaluation.structure: needs vulture:"
    assert f"{lacking} pip install 'spanproof[structure]'" in lines
    run(["doctor", "--backend", "jail"])
    assert "loaded by" not in capfd.readouterr().out


def test_plugins_of_other_distributions_are_listed_and_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = EntryPoint("polite", "no_such_module:Polite", plugins.EVALUATORS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [theirs] if group == theirs.group else [])
    assert [plugin.name for plugin in list_plugins()][3:] == ["polite (spanproof.evaluators)"]
