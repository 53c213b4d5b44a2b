"""Record a framework's own spans: `python tests/peers/frameworks/record.py NAME…`, or all without a name.

Installs each framework, at the versions of `frameworks.yaml`, into an environment of its own under
`.cache/frameworks`, runs `agents/NAME.py` there, and writes `tests/golden/frameworks/NAME.json`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
GOLDEN = ROOT / "tests" / "golden" / "frameworks"
NEEDED = yaml.safe_load((HERE / "frameworks.yaml").read_text())
RECORDINGS: dict[str, dict[str, Any]] = NEEDED["recordings"]

_RUN = "from story import record; from agents.{name} import run; record(run, {target!r})"


def make_environment(name: str) -> Path:
    """Install a framework and return the interpreter that imports it."""
    folder = ROOT / ".cache" / "frameworks" / RECORDINGS[name].get("agent", name)
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    options = ["--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [python, "-m", "pip", "install", *options, *RECORDINGS[name]["packages"], *NEEDED["shared"]],
        check=True,
    )
    return python


def run_agent(name: str, python: Path, target: Path) -> None:
    """Run the agent of a recording by an interpreter that imports its framework, and write its spans."""
    needed = RECORDINGS[name]
    code = _RUN.format(name=needed.get("agent", name), target=str(target))
    environment = {**os.environ, **needed.get("environment", {})}
    subprocess.run([python, "-c", code], check=True, cwd=HERE, env=environment)


def main(names: list[str]) -> None:
    """Record the frameworks of these names."""
    for name in names or RECORDINGS:
        run_agent(name, make_environment(name), GOLDEN / f"{name}.json")
        print(f"recorded {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
