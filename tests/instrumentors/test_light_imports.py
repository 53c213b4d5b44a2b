"""What an agent process imports with Spanproof: OpenTelemetry's tracing, and nothing heavy beside it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "chdb", "click", "fastapi", "grpc", "httpx", "langchain_core", "numpy", "openai",
    "opentelemetry.sdk._logs", "opentelemetry.sdk.metrics", "packaging", "pandas", "pyarrow", "pydantic",
    "requests", "rich", "smolagents", "sqlglot", "tree_sitter", "yaml",
)  # fmt: skip
LIGHT = {"spanproof.instrumentors", "spanproof.sandbox", "spanproof.semconv"}


def modules_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has after a statement."""
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys; print(*sys.modules)"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import spanproof",
        "from spanproof.instrumentors import register, set_cohort, feedback",
        "from spanproof.instrumentors.trace import agent, tool",
        "from spanproof.instrumentors.guard import Guard",
    ],
)
def test_an_agent_imports_nothing_heavy(statement: str) -> None:
    loaded = modules_after(statement)
    heavy = [name for name in HEAVY if name in loaded]
    assert not heavy, f"{statement!r} imports {heavy}"
    rooms = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("spanproof.")}
    assert rooms <= LIGHT


def test_the_package_alone_imports_nothing_of_its_own() -> None:
    assert {name for name in modules_after("import spanproof") if name.startswith("spanproof.")} == set()
