"""The committed bundle and types are those of the source: an installation needs no Node."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from node_programs import run_npm

from spanproof.api import build_app

SOURCE = Path(__file__).parents[2] / "collector" / "console"
STATIC = Path(__file__).parents[2] / "collector" / "spanproof" / "api" / "static"
GZIPPED = 300_000
"""Of all that the console loads, before its fonts."""
FIRST_VIEW = re.compile(r'(?:src|href)="/([\w.-]+\.(?:js|css))"')
"""What the document names: all but the charts, which follow the numbers."""
FIRST_VIEW_GZIPPED = 225_000
REPORT = ("report.js", "report.css")
"""What a file without a server is made of; the console loads neither."""


def test_the_bundle_is_what_its_source_builds(tmp_path: Path, node_modules: Path) -> None:
    folder = tmp_path / "console"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "node_modules").symlink_to(node_modules)
    (folder / "openapi.json").write_text(json.dumps(build_app(no_store).openapi()))
    (folder / "src" / "schema.d.ts").unlink(missing_ok=True)
    run_npm(folder, "run", "types")
    assert (folder / "src" / "schema.d.ts").read_bytes() == (SOURCE / "src" / "schema.d.ts").read_bytes()
    run_npm(folder, "run", "build")
    built = tmp_path / "spanproof" / "api" / "static"
    assert {path.name: path.read_bytes() for path in built.iterdir()} == {
        path.name: path.read_bytes() for path in STATIC.iterdir()
    }, "run: make console"


def test_the_command_that_builds_the_bundle_describes_this_api() -> None:
    makefile = (SOURCE.parents[1] / "Makefile").read_text(encoding="utf-8")
    (code,) = re.findall(r"-c '(import json; from spanproof\.api .*)'", makefile)
    command = [sys.executable, "-c", code]
    described = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(described) == json.loads(json.dumps(build_app(no_store).openapi()))


def test_the_licence_of_each_bundled_package_travels_with_it() -> None:
    packages = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    texts = (STATIC.parent / "bundle.LICENSES").read_text(encoding="utf-8")
    missing = [
        path
        for path, about in packages.items()
        if path
        and not about.get("dev")
        and not path.startswith("node_modules/@types/")
        # Types of CSS and of TypeScript: nothing of them is in the bundle.
        and path.rpartition("node_modules/")[2] not in ("csstype", "type-fest", "tagged-tag")
        and f"{path.rpartition('node_modules/')[2]} {about['version']} (" not in texts
    ]
    assert not missing, f"add to bundle.LICENSES: {missing}"


def test_the_bundle_is_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in STATIC.iterdir()}
    loaded = {name: size for name, size in sizes.items() if name not in REPORT}
    assert sum(size for name, size in loaded.items() if not name.endswith(".woff2")) < GZIPPED
    named = FIRST_VIEW.findall((STATIC / "index.html").read_text(encoding="utf-8"))
    assert {"first.js", "first.css", "console.js", "overview.js"} < set(named)
    assert sum(loaded[name] for name in {"index.html", *named}) < FIRST_VIEW_GZIPPED


def test_the_document_names_every_module_of_the_first_view() -> None:
    named = FIRST_VIEW.findall((STATIC / "index.html").read_text(encoding="utf-8"))
    scripts = [name for name in named if name.endswith(".js")]
    needed = {
        each
        for name in scripts
        for each in re.findall(r'(?:from|import)"\./([\w.-]+)"', (STATIC / name).read_text(encoding="utf-8"))
    }
    assert needed <= set(named)


def test_nothing_is_loaded_from_elsewhere() -> None:
    for path in STATIC.glob("*.css"):
        found = re.findall(r"url\(([^)]*)\)", path.read_text(encoding="utf-8"))
        assert all(each.strip("\"'").startswith(("/", "data:")) for each in found), path.name


def test_the_report_needs_no_other_file() -> None:
    script, style = ((STATIC / name).read_text(encoding="utf-8") for name in REPORT)
    assert not re.search(r"\bimport\s*\(|\bimport\s*[\"'{]", script)
    assert "@font-face" not in style
    assert "url(/" not in style


def no_store() -> None:
    raise AssertionError("a description reads no store")
