"""What a program imports with the client: httpx, pydantic and the models of the answers."""

from __future__ import annotations

import subprocess
import sys

import pytest

SERVER = (
    "chdb", "clickhouse_connect", "confluent_kafka", "fastapi", "google", "grpc", "jinja2", "jsonschema",
    "opentelemetry", "orjson", "pyarrow", "re2", "spacy", "sqlglot", "starlette", "tree_sitter", "uvicorn",
    "yaml",
)  # fmt: skip
WITHOUT = "import sys; sys.modules[{name!r}] = None\nimport spanproof.client"


def test_the_client_imports_nothing_of_the_server() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import spanproof.client, sys; print(*sys.modules)"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    loaded = set(done.stdout.split())
    assert [name for name in SERVER if name in loaded] == []
    rooms = {".".join(name.split(".")[:2]) for name in loaded if name.startswith("spanproof.")}
    assert not rooms & {f"spanproof.{name}" for name in ("collector", "evaluators", "experiments", "store")}


@pytest.mark.parametrize("name", ["httpx", "pydantic"])
def test_without_its_packages_one_sentence_names_the_remedy(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(name=name)], capture_output=True, text=True, timeout=120
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last == f"ImportError: the client needs the package {name}: pip install 'spanproof[client]'"
