"""The how-to guides work as written: their files are saved, their commands are run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from waiting import wait_until

from spanproof.config.model import load_config

from .test_serve import run_agent, serving, stored, wait_evaluated

GUIDES = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(guide: str, language: str) -> list[str]:
    """Return the code blocks of a language, without indentation."""
    text = (GUIDES / guide).read_text(encoding="utf-8")
    found = re.findall(rf"^([ ]*)```{language}\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    return [dedent(body) for _, body in found]


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run lines of a guide as a reader does."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "100", **variables},
    )  # fmt: skip


@pytest.mark.parametrize("guide", ["alert-in-slack.md", "beside-your-backend.md"])
def test_a_configuration_is_one_that_the_server_takes(guide: str, tmp_path: Path) -> None:
    written = blocks(guide, "yaml")
    assert written
    file = tmp_path / "spanproof.yaml"
    for text in written:
        file.write_text(text)
        load_config(file, {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"})
        done = run("spanproof config check spanproof.yaml", tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_scanner_of_the_guide_finds_what_it_says(tmp_path: Path) -> None:
    pattern, policy = blocks("write-a-scanner.md", "yaml")
    (scanner,) = blocks("write-a-scanner.md", "python")
    (command,) = blocks("write-a-scanner.md", "sh")
    (printed,) = blocks("write-a-scanner.md", "text")
    (tmp_path / "policy.yaml").write_text(pattern)
    by_pattern = run(command, tmp_path)
    assert by_pattern.returncode == 1
    assert "user.old-client" in by_pattern.stdout
    (tmp_path / "old_client.py").write_text(scanner)
    (tmp_path / "policy.yaml").write_text(policy)
    found = run(command, tmp_path)
    assert found.returncode == 1, found.stderr
    first, *rest = [line.split() for line in found.stdout.splitlines()]
    shown, *others = [line.split() for line in printed.splitlines()]
    assert first[:2] == shown  # it goes on with the time that the scan took
    assert rest == others
    (tmp_path / "fine.py").write_text("# shop_v1 is no longer used\nimport shop_v2\n")
    assert run("spanproof scan fine.py --policy policy.yaml", tmp_path).returncode == 0


def test_a_users_data_is_counted_and_then_removed(tmp_path: Path) -> None:
    count, remove = blocks("remove-a-users-data.md", "sh")
    resource = {"OTEL_RESOURCE_ATTRIBUTES": "user.id=ada@example.com"}
    store = {"SPANPROOF_STORE": str(tmp_path / "store")}
    with serving(tmp_path, "evaluation.replay=false") as (process, where):
        before = os.environ.get("OTEL_RESOURCE_ATTRIBUTES")
        assert before is None
        os.environ.update(resource)
        try:
            of_ada = run_agent(where, "http/protobuf", "faithful")
        finally:
            os.environ.pop("OTEL_RESOURCE_ATTRIBUTES")
        of_others = run_agent(where, "http/protobuf", "faithful")
        wait_evaluated(where, 2)
        wait_until(lambda: {of_ada, of_others} <= set(stored(tmp_path)))
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    counted = run(count, tmp_path, **store)
    assert counted.returncode == 0, counted.stderr
    assert "1 trace" in counted.stdout
    assert set(stored(tmp_path)) == {of_ada, of_others}
    assert run(remove, tmp_path, **store).returncode == 0
    assert set(stored(tmp_path)) == {of_others}


def test_every_guide_is_in_the_navigation() -> None:
    site = yaml.load((GUIDES.parents[1] / "mkdocs.yml").read_text(encoding="utf-8"), yaml.BaseLoader)
    (guides,) = [part["Guides"] for part in site["nav"] if isinstance(part, dict) and "Guides" in part]
    pages = [page for group in guides for listed in group.values() for page in listed]
    listed = {path for page in pages for path in page.values()}
    missing = {f"how-to/{path.name}" for path in GUIDES.glob("*.md")} - listed
    assert not missing, f"add to mkdocs.yml: {missing}"
