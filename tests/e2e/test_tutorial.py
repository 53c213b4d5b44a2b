"""The tutorial works as written: its files are saved, its commands are run, in its order."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from waiting import wait_until

from .test_serve import serving, stored, wait_evaluated

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the code blocks of a language, without indentation."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_tutorial_ends_with_a_failing_gate(tmp_path: Path) -> None:
    install, serve, agent, list_, show, promote, gate = blocks("sh")
    assert "spanproof doctor" in install
    assert serve.strip() == "spanproof serve"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SPANPROOF_STORE": str(tmp_path / "store"),
        "NO_COLOR": "1",
    }

    def run(script: str, *, code: int = 0) -> str:
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout

    with serving(tmp_path) as (process, where):
        # The ports of the page may be taken on this machine.
        (tmp_path / "agent.py").write_text(
            blocks("python")[0].replace("http://127.0.0.1:4318", where["http"])
        )
        assert "The refund of order A-17 is $54.00." in run(agent)
        wait_evaluated(where)
        wait_until(lambda: stored(tmp_path))
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    assert "groundedness" in run(list_)
    assert run(show).startswith("FAIL  refund_clerk fails groundedness")
    assert "1 case: 1 reproduced" in run(promote)
    (tmp_path / "release.gate").write_text(blocks("text")[0])
    assert "gate failed: groundedness" in run(gate, code=1)
