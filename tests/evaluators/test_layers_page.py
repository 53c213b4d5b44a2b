"""Every score that the layers can emit stands on the page that explains them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from spanproof.evaluators import layers, lint
from spanproof.evaluators.evaluator import BUILT_IN
from spanproof.evaluators.judge import BESIDE
from spanproof.trace import Layer

PAGE = Path(__file__).parents[2] / "docs" / "layers.md"
MAKERS = {"_judgement", "Judgement"}
OUTCOMES = {"layer.py", "metrics.py", "calling.py", "spent.py"}
"""Files whose mappings are outcomes by name."""

NAME = re.compile(r"[a-z]+(?:_[a-z]+)*")


def emitted() -> set[str]:
    """Names in the code: what judgements are made with, and the keys of mappings of outcomes."""
    found = {layer.value for layer in Layer} | {BESIDE}
    files = [*Path(layers.__path__[0]).rglob("*.py"), Path(lint.__file__)]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
                found |= _names(node.args)
            elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[1], ast.Call):
                found |= _names(node.elts[:1])
            elif file.name not in OUTCOMES and file.parent.name != "correctness":
                continue
            elif isinstance(node, ast.Dict):
                found |= _names(key for key in node.keys if key is not None)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                found |= _names([node.targets[0].slice])
    return found


def _names(nodes) -> set[str]:
    values = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {value for value in values if NAME.fullmatch(value)}


def test_every_score_that_can_be_emitted_is_explained():
    explained = set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert not emitted() - explained
    assert emitted() <= BUILT_IN <= explained | {"no_code"}
    assert {"recovery", "chunk_attribution", "first_mistake", "attempts", "compiles", "outcome"} <= emitted()
