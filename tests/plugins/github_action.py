"""The repository's composite action, run on a checkout as GitHub's runner runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"


def make_environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a runner: our command on the path, the agents of the tests importable."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    agents = str(ROOT / "tests" / "experiments")
    return {"PATH": path, "HOME": str(home), "PYTHONPATH": agents, "LANG": "C.UTF-8", **more}


def run_action(checkout: Path, **given: str) -> tuple[int, str, dict[str, str]]:
    """Run the action's steps as the runner does; returns exit code, output and the action's outputs."""
    action = yaml.safe_load(ACTION.read_text())
    inputs = {name: about.get("default", "") for name, about in action["inputs"].items()}
    unknown = sorted(set(given) - set(inputs))
    assert not unknown, f"declare as inputs of the action: {unknown}"
    inputs |= {"install": "", **given}
    files = {name: checkout.parent / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    output = ""
    code = 0
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an expression within a script is an injection"
        env = {name: fill_in(value, inputs) for name, value in step.get("env", {}).items()}
        script = checkout.parent / "step.sh"
        script.write_text(step["run"])
        # https://docs.github.com/actions: `shell: bash` is this command line.
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=checkout,
            env=make_environment(checkout, **{name: str(file) for name, file in files.items()}, **env),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        output += done.stdout + done.stderr
        code = done.returncode
        if code:
            break
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return code, output, outputs


def fill_in(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)
