"""The interpreter that a program runs in, wherever on the machine it lies."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import spanproof.sandbox


def test_an_interpreter_under_tmp_works_and_is_read_only(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    program = """
        from spanproof.sandbox import Program
        from spanproof.sandbox.registry import open_sandbox
        source = "import os, sys; open('/tmp/x', 'w').close(); print(os.path.exists(sys.executable))"
        with open_sandbox() as sandbox:
            for _ in range(2):
                print(sandbox.run(Program("python", source)).stdout, end="")
            refused = sandbox.run(Program("python", "import sys; open(sys.prefix + '/x', 'w')"))
            print(refused.failure_class, refused.attempts[0].allowed)
    """
    root = str(Path(spanproof.sandbox.__file__).parents[2])
    done = subprocess.run(
        [str(tmp_path / "venv/bin/python"), "-c", textwrap.dedent(program)],
        env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["True", "True", "permission_denied False"], done.stderr
