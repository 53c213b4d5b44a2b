"""The configuration as the console shows it: where each value came from, and no secret."""

from __future__ import annotations

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
