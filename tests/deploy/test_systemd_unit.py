from __future__ import annotations

import re
import subprocess
from configparser import RawConfigParser
from pathlib import Path

from spanproof.config.model import load_config

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "deploy" / "systemd" / "spanproof.service"


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    # The program is not installed where the unit has it: `verify` would say so, and nothing else.
    there = UNIT.read_text(encoding="utf-8").replace("/opt/spanproof/bin/spanproof", "/bin/true")
    (tmp_path / "spanproof.service").write_text(there, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "spanproof.service")],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    found = [line for line in done.stderr.splitlines() if "spanproof.service" in line]
    assert not found, found


def test_the_example_of_a_configuration_is_read_with_the_tokens_that_it_shows() -> None:
    example = UNIT.with_suffix(".yaml")
    (shown,) = re.findall(r"SPANPROOF_TOKENS='(.*)'", example.read_text(encoding="utf-8"))
    config = load_config(example, {"SPANPROOF_TOKENS": shown.replace("…", "a", 1).replace("…", "b")})
    assert [token.project for token in config.tokens] == [None, "shop"]
    assert [target.traces for target in config.forward] == ["all"]
    assert config.evaluation.max_spans == 20_000


def test_the_unit_leaves_the_sandbox_what_it_is_made_of() -> None:
    unit = RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(UNIT, encoding="utf-8")
    service = unit["Service"]
    assert "Delegate" in service
    for taken_away in ("RestrictNamespaces", "SystemCallFilter", "MemoryDenyWriteExecute", "ProtectProc"):
        assert taken_away not in service
    assert float(service["TimeoutStopSec"]) > 60  # the drain
