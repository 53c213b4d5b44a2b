"""The package for TypeScript: agents of four frameworks, their own spans, and a collector."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from node_programs import install_packages, run_node, run_npm
from waiting import wait_until

from .test_serve import cli, serving, stored, wait_evaluated

PACKAGE = Path(__file__).parents[2] / "typescript"
CODE = "lines = [1999, 2501]\nprint(sum(lines))"

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    install_packages(PACKAGE)
    run_npm(PACKAGE, "run", "build")


def test_its_own_tests_pass() -> None:
    run_npm(PACKAGE, "test")


def test_the_published_package_holds_code_types_and_a_readme(tmp_path: Path) -> None:
    (packed,) = json.loads(
        run_npm(PACKAGE, "pack", "--json", "--ignore-scripts", "--pack-destination", str(tmp_path))
    )
    with tarfile.open(tmp_path / packed["filename"].replace("@", "").replace("/", "-")) as archive:
        names = set(archive.getnames())
    wanted = {f"package/{name}" for name in ("package.json", "README.md", "dist/index.js", "dist/index.d.ts")}
    assert not (wanted - names), f"add to the package: {wanted - names}"
    assert not [name for name in names if "/src/" in name or "/test/" in name]


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json", "grpc"])
def test_the_code_of_agents_in_typescript_is_replayed_and_judged(tmp_path: Path, protocol: str) -> None:
    with serving(tmp_path) as (_, where):
        endpoint = f"http://{where['grpc']}" if protocol == "grpc" else where["http"]
        run_node(PACKAGE, "test/agents.mjs", protocol, endpoint)
        wait_evaluated(where, 2)
        wait_until(lambda: len(stored(tmp_path)) == 2)
        for trace_id, row in stored(tmp_path).items():
            assert row["project"] == "shop"
            (judged,) = row["runs"]
            for layer in ("correctness", "boundary", "execution"):
                assert judged["layers"][layer]["label"] == "pass", judged
            shown = cli("show", trace_id, "--store", str(tmp_path / "store"), "--json")
            (evaluated,) = json.loads(shown.stdout)["runs"]
            assert evaluated["run"]["cohort"]["prompt_version"] == "v12"
            (snippet,) = evaluated["run"]["steps"][0]["snippets"]
            assert (snippet["source"], snippet["language"], snippet["executor"]["version"]) == (
                CODE,
                "python",
                "python 3.11.7",
            )


def test_agents_of_openai_and_langgraph_are_judged_by_their_own_spans(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, where):
        run_node(PACKAGE, "test/frameworks.mjs", where["http"])
        wait_evaluated(where, 2)
        wait_until(lambda: len(stored(tmp_path)) == 2)
        # The Agents SDK wraps its runs in a span of their own, which has nothing to judge.
        runs = [run for row in stored(tmp_path).values() for run in row["runs"]]
        clerks = [run for run in runs if run["state"] != "skipped"]
        assert len(clerks) == 2
        for judged in clerks:
            for layer in ("correctness", "boundary", "execution", "trajectory"):
                assert judged["layers"][layer]["label"] == "pass", judged
        for trace_id in stored(tmp_path):
            shown = json.loads(cli("show", trace_id, "--store", str(tmp_path / "store"), "--json").stdout)
            run = next(each["run"] for each in shown["runs"] if each["run"]["name"] == "clerk")
            assert run["answer"]["text"] == "The lines add up to 4500 cents."
            assert run["cohort"]["prompt_version"] == "v12"
            (snippet,) = run["steps"][0]["snippets"]
            assert (snippet["source"], snippet["observation"]) == (CODE, "4500\n")
