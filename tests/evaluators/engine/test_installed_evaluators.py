"""Evaluators that installed packages bring: found by entry point, named where they are broken."""

from __future__ import annotations

import itertools

import pytest

from spanproof.cli.app import run
from spanproof.evaluators.evaluator import EvaluatorError, load_installed

GOOD = """
from spanproof.evaluators.evaluator import Cost, Evaluator
from spanproof.trace import Judgement, Layer, Scored

class Polite(Evaluator):
    name, version, layer, cost = "polite", "1", Layer.TRAJECTORY, Cost.RULES

    def judge(self, evidence, so_far):
        said = Scored(1.0, None, "thanks")
        return [Judgement(self.layer, "polite", evidence.run.span_id, said, self.name, self.version)]
"""
NUMBERS = itertools.count()


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay a distribution with one evaluator where Python finds it, as pip would."""

    def lay(source, attribute="Polite"):
        module = f"polite_{next(NUMBERS)}"
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (tmp_path / f"{module}.py").write_text(source)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[spanproof.evaluators]\npolite = {module}:{attribute}\n")
        monkeypatch.syspath_prepend(tmp_path)
        return module

    return lay


def test_an_installed_evaluator_is_found(install):
    install(GOOD)
    assert [each.name for each in load_installed()] == ["polite"]


@pytest.mark.parametrize(
    ("source", "attribute", "shown"),
    [
        (GOOD.replace("(Evaluator)", ""), "Polite", "no subclass"),
        (GOOD, "Rude", "has no attribute 'Rude'"),
        ("import nowhere_at_all", "Polite", "No module named 'nowhere_at_all'"),
        (GOOD.replace("    def judge", "    def judged"), "Polite", "abstract"),
        (f"{GOOD}\n    def __init__(self, tone): ...\n", "Polite", "'tone'"),
        (GOOD.replace('"1", Layer', "1, Layer"), "Polite", "no 'version' of type str"),
        (GOOD.replace("name, version, layer, cost =", "name, version, layer, price ="), "Polite", "'cost'"),
    ],
)
def test_a_broken_one_is_named_with_its_package(install, source, attribute, shown):
    module = install(source, attribute)
    with pytest.raises(EvaluatorError, match="polite") as problem:
        load_installed()
    assert shown in str(problem.value)
    assert repr(module) in str(problem.value)


@pytest.mark.parametrize(
    "arguments",
    [
        "serve --set store.location=s --set wal.directory=w",
        "eval absent.pb --no-replay",
        "rescore --store s --set evaluation.replay=false",
    ],
)
def test_every_command_that_loads_it_says_so_and_how_to_mend_it(
    install, tmp_path, monkeypatch, capsys, arguments
):
    monkeypatch.chdir(tmp_path)
    module = install(GOOD.replace("    def judge", "    def judged"))
    assert run(arguments.split()) == 2
    shown = capsys.readouterr().err
    assert f"the installed package {module!r} brings" in " ".join(shown.split())
    assert "remedy" in shown
    assert "internal error" not in shown
