"""The command line around environments and databases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def spanproof(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "spanproof.cli", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def answers(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    done = spanproof("sandbox", "run", "--jsonl", stdin="\n".join(map(json.dumps, rows)))
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_an_environment_is_built_listed_used_and_removed(wheels, directory: Path, tmp_path: Path) -> None:
    wheels.add("alpha", "1.0", {"alpha/__init__.py": "VERSION = '1.0'"})
    pins, program = tmp_path / "requirements.txt", tmp_path / "program.py"
    pins.write_text("alpha==1.0\n")
    program.write_text("import alpha; print(alpha.VERSION)")

    built = spanproof("sandbox", "environment", "build", pins)
    assert built.returncode == 0
    assert str(directory) in built.stdout
    steps = [line for line in built.stderr.splitlines() if line.startswith("spanproof: ")]
    assert steps[0] == "spanproof: building an environment, once: alpha==1.0"
    assert len(steps) == 4

    run = spanproof("sandbox", "run", "--packages", pins, "--json", program)
    assert (json.loads(run.stdout)["stdout"], run.stderr) == ("1.0\n", "")
    row = {"id": 1, "language": "python", "source": program.read_text(), "packages": {"pins": ["alpha==1.0"]}}
    bad = {"id": 2, "language": "python", "source": "", "packages": ["alpha==1.0"]}
    first, second = answers(row, bad)
    assert first["stdout"] == "1.0\n"
    assert "'packages'" in second["error"]

    (listed,) = spanproof("sandbox", "environment", "list", "--json").stdout.splitlines()
    assert json.loads(listed)["pins"] == ["alpha==1.0"]
    assert "alpha==1.0" in spanproof("sandbox", "environment", "list").stdout
    assert spanproof("sandbox", "environment", "prune").stdout.count("alpha") == 0
    gone = spanproof("sandbox", "environment", "prune", "--keep-bytes", 0, "--locks", "--json").stdout
    assert json.loads(gone)["key"] == json.loads(listed)["key"]
    assert not list(directory.glob("locks/*.json"))


def test_a_package_that_cannot_be_had_is_misuse_and_no_failed_program(
    wheels, directory: Path, tmp_path: Path
) -> None:
    pins, program = tmp_path / "requirements.txt", tmp_path / "program.py"
    program.write_text("print(1)")
    for text, word in (("absent==1.0", "absent==1.0"), ("absent", "not exact")):
        pins.write_text(text)
        done = spanproof("sandbox", "run", "--packages", pins, program)
        assert done.returncode == 2
        assert word in done.stderr
        assert "Traceback" not in done.stderr


def test_sql_runs_against_a_file_on_either_engine(tmp_path: Path) -> None:
    base, query = tmp_path / "base.sql", tmp_path / "query.sql"
    base.write_text("create table t (a int); insert into t values (1), (2)")
    for engine in ("sqlite", "duckdb"):
        how = ("sandbox", "run", "--database", base, "--engine", engine, "--json")
        query.write_text("select sum(a) from t")
        answer = json.loads(spanproof(*how, query).stdout)
        assert (answer["stdout"], answer["result"]["rows"]) == ("3\n", [[3]])
        query.write_text("delete from t")
        refused = spanproof(*how, query)
        assert (refused.returncode, json.loads(refused.stdout)["failure_class"]) == (1, "permission_denied")
        assert spanproof(*how, "--writable", query).returncode == 0


def test_lines_name_their_database() -> None:
    files = {"base.sql": "create table t (a int); insert into t values (1)"}
    row = {"language": "sql", "source": "select a from t", "files": files}
    found = answers(
        {**row, "id": 1, "database": {"engine": "duckdb", "file": "base.sql"}},
        {**row, "id": 2, "database": {"file": "other.sql"}},
        {**row, "id": 3, "database": {"engine": "oracle"}},
    )
    assert found[0]["result"] == {"columns": ["a"], "rows": [[1]], "cut": False}
    assert "other.sql" in found[1]["error"]
    assert "'database'" in found[2]["error"]
