"""The command tree: every command loads, explains itself, and errors are one message with exit code 2."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import click
import pytest
from click.testing import CliRunner

from spanproof.cli.app import _COMMANDS, app, run


@pytest.mark.parametrize("name", list(_COMMANDS))
def test_each_command_loads_and_explains_itself(name: str) -> None:
    assert isinstance(import_module(_COMMANDS[name][0]).command, click.Command)
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_an_unknown_command_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_version_is_reported_without_the_servers_packages() -> None:
    reported = subprocess.run(
        [sys.executable, "-m", "spanproof.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert reported.stdout.strip() == f"spanproof {version('spanproof')}"


def test_a_missing_server_package_says_what_to_install() -> None:
    blocked = (
        "import sys; sys.modules['click'] = None; sys.argv = ['spanproof', 'scan'];"
        "from spanproof.cli import main; sys.exit(main())"
    )
    reported = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert reported.returncode == 2
    assert "pip install 'spanproof[server]'" in reported.stderr
    assert "Traceback" not in reported.stderr
