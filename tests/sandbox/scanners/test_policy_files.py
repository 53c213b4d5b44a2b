from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import load_policy, parse_policy


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_a_file_does_not_name_keeps_its_default(tmp_path: Path) -> None:
    policy = load_policy(
        _write(tmp_path, "hosts: [data.test, '*.corp.test']\nports: [443]\nsql_tables: [Sales]\n")
    )

    assert policy.hosts == ("data.test", "*.corp.test")
    assert policy.ports == frozenset({443})
    assert policy.sql_tables == frozenset({"sales"})
    assert policy.read_roots == Policy().read_roots
    assert policy.environment == Policy().environment


def test_an_empty_file_is_the_default_policy(tmp_path: Path) -> None:
    assert load_policy(_write(tmp_path, "# nothing\n")) == Policy()


def test_an_unknown_key_names_the_nearest_one(tmp_path: Path) -> None:
    path = _write(tmp_path, "host: [data.test]\n")

    with pytest.raises(PolicyError) as problem:
        load_policy(path)

    assert str(path) in str(problem.value)
    assert "'host'" in str(problem.value)
    assert "did you mean 'hosts'?" in str(problem.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hosts: data.test", ["hosts", "'data.test'", "hosts: [a, b]"]),
        ("hosts: ['https://data.test/x']", ["hosts", "host name alone"]),
        ("hosts: ['a*.test']", ["hosts", "*.example.org"]),
        ("ports: [99999]", ["ports", "99999", "65535"]),
        ("ports: [true]", ["ports", "True"]),
        ("read_roots: [data]", ["read_roots", "'data'", "absolute"]),
        ("work_directory: 3", ["work_directory", "3"]),
        ("- a\n- b", ["list", "keys and values"]),
        ("hosts: [", ["YAML"]),
        ("environment: [1]", ["environment", "1"]),
        ("languages: [pyhton]", ["languages", "'pyhton'", "did you mean 'python'?"]),
        ("bandit: 'yes'", ["bandit", "true or false"]),
        ("scanner_files: [/etc/hostname]", ["scanner_files", "lies outside"]),
        ("scanner_files: [absent.py]", ["scanner_files", "absent.py", "give a Python file"]),
        ("topics: [{id: pay}]", ["topic 'pay'", "words: [salary]"]),
        ("topics: [{id: pay, words: salary}]", ["topic 'pay'", "no list"]),
        ("topics: [{id: pay, patterns: ['(a+)+']}]", ["topic 'pay'", "nests quantifiers"]),
        ("overrides: {agent: a}", ["overrides", "give a list"]),
        ("overrides: [{hosts: []}]", ["override 1", "'when'", "when: {agent: billing-*}"]),
        ("overrides: [{when: {agnt: a}, hosts: []}]", ["override 1", "'agnt'", "did you mean 'agent'?"]),
        ("overrides: [{when: {release: 1.2}, hosts: []}]", ["override 1", "'release'", "1.2"]),
        ("overrides: [{when: {agent: a}}]", ["override 1", "changes nothing"]),
        ("overrides: [{when: {agent: a}, hosts: x}]", ["override 1", "'hosts'", "hosts: [a, b]"]),
        ("overrides: [{when: {agent: a}, overrides: []}]", ["override 1", "unknown key 'overrides'"]),
    ],
)
def test_a_wrong_value_is_named_with_its_remedy(tmp_path: Path, text: str, parts: list[str]) -> None:
    with pytest.raises(PolicyError) as problem:
        load_policy(_write(tmp_path, text))

    assert all(part in str(problem.value) for part in [*parts, "policy.yaml"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"absent\.yaml"):
        load_policy(tmp_path / "absent.yaml")


def test_each_field_can_be_set_and_is_documented() -> None:
    documentation = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")
    example = {
        "name": "x", "work_directory": "/w", "ports": [1], "sql_tables": None,
        "sql_rules": [{"memory": True}], "read_roots": ["/a"],
        "write_roots": ["/a"],
        "hosts": ["a.test"], "aggregation": "all", "weights": {"python": 2}, "scanner_time_s": 1,
            "rules": [{"id": "a", "pattern": "a", "message": "a"}], "fingerprint_salt": "0123456789abcdef",
        "bandit": False, "toxicity": True, "sandbox_tier": "full",
        "topics": [{"id": "a", "words": ["a"]}], "scanner_files": [Path(__file__).name],
        "overrides": [{"when": {"agent": "a"}, "hosts": []}],
    }  # fmt: skip
    for field in fields(Policy):
        parse_policy({field.name: example.get(field.name, ["a"])}, "test", Path(__file__).parent)
        assert f"`{field.name}`" in documentation


def test_a_root_is_normalised(tmp_path: Path) -> None:
    assert load_policy(_write(tmp_path, "read_roots: [/srv/data/../x/]")).read_roots == ("/srv/x",)
