"""The configuration as the console shows it: where each value came from, and no secret."""

from __future__ import annotations

from starlette.testclient import TestClient

from spanproof.api import ConsoleSettings, build_app
from spanproof.api.readers import TokenHolders
from spanproof.cli.commands.serve import _read_policy
from spanproof.config.model import load_config


def test_each_setting_has_its_origin_and_secrets_are_masked(tmp_path):
    file = tmp_path / "spanproof.yaml"
    file.write_text("project: shop\ntokens: [a-secret-token]\n")
    environment = {"SPANPROOF_ASSEMBLY__QUIET_S": "2"}
    listed = load_config(file, environment, {"console.port": "4400"}).list_settings()
    found = {key: (value, origin) for key, value, origin in listed}
    assert found["project"] == ('"shop"', f"{file}:1")
    assert found["assembly.quiet_s"] == ("2.0", "environment SPANPROOF_ASSEMBLY__QUIET_S")
    assert found["console.port"] == ("4400", "--set console.port")
    assert found["console.host"] == ('"127.0.0.1"', "default")
    assert "a-secret-token" not in str(listed)


def test_the_salt_of_a_policy_is_not_shown(tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "fingerprint_salt: sixteen-letters-1\noverrides: [{fingerprint_salt: other-letters-22}]\n"
    )
    shown = _read_policy(policy)
    assert "letters" not in shown
    assert shown.count("masked-in-the-console") == 2


def test_tokens_are_listed_by_name_and_role_also_those_of_the_file(store, tmp_path):
    more = tmp_path / "tokens.yaml"
    more.write_text("[{token: from-the-file, name: staging, roles: [read], project: shop}]\n")
    file = tmp_path / "spanproof.yaml"
    file.write_text(f"tokens: [a-secret-token, {{token: b-secret, name: fleet}}]\ntokens_file: {more}\n")
    holders = TokenHolders(load_config(file, {}, {}))
    client = TestClient(build_app(lambda: store, ConsoleSettings(read_grants=holders.list_grants)))
    answer = client.get("/api/v1/settings")
    assert answer.json()["tokens"] == [
        {"name": "", "roles": ["send", "write"], "project": ""},
        {"name": "fleet", "roles": ["send", "write"], "project": ""},
        {"name": "staging", "roles": ["read"], "project": "shop"},
    ]
    assert "secret" not in str(answer.json()["tokens"])
    assert "from-the-file" not in answer.text
