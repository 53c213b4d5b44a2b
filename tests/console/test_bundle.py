"""The committed bundle and types are those of the source: an installation needs no Node."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

from node_programs import run_npm

from spanproof.api import make_app

SOURCE = Path(__file__).parents[2] / "collector" / "console"
STATIC = Path(__file__).parents[2] / "collector" / "spanproof" / "api" / "static"
GZIPPED = 250_000


def test_the_bundle_is_what_its_source_builds(tmp_path: Path, node_modules: Path) -> None:
    folder = tmp_path / "console"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "node_modules").symlink_to(node_modules)
    (folder / "openapi.json").write_text(json.dumps(make_app(no_store).openapi()))
    (folder / "src" / "schema.d.ts").unlink(missing_ok=True)
    run_npm(folder, "run", "types")
    assert (folder / "src" / "schema.d.ts").read_bytes() == (SOURCE / "src" / "schema.d.ts").read_bytes()
    run_npm(folder, "run", "build")
    built = tmp_path / "spanproof" / "api" / "static"
    assert {path.name: path.read_bytes() for path in built.iterdir()} == {
        path.name: path.read_bytes() for path in STATIC.iterdir()
    }, "run: make console"


def test_the_bundle_is_small() -> None:
    assert sum(len(gzip.compress(path.read_bytes())) for path in STATIC.iterdir()) < GZIPPED


def no_store() -> None:
    raise AssertionError("a description reads no store")
