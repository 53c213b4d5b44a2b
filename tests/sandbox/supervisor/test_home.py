"""The directories of boxes: those of the dead are removed, and no other, not even one that is being made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from spanproof.sandbox.supervisor.reduced.home import build_home

MAKES = """
import sys
from pathlib import Path
from spanproof.sandbox.supervisor.reduced.home import build_home
made = [build_home(Path(sys.argv[1])) for _ in range(25)]
assert all(home.exists() for home in made)
"""


def test_homes_of_the_dead_are_removed_with_all_that_lies_in_them(tmp_path: Path) -> None:
    left = tmp_path / "spanproof-jail-left"
    (left / "1" / "closed").mkdir(parents=True)
    (left / "1" / "closed").chmod(0)
    first = build_home(tmp_path)
    assert not left.exists()
    assert {first, build_home(tmp_path)} == {*tmp_path.iterdir()}
    assert first.stat().st_mode & 0o777 == 0o711


def test_many_who_make_homes_at_once_keep_theirs(tmp_path: Path) -> None:
    makers = [
        subprocess.Popen([sys.executable, "-c", MAKES, str(tmp_path)], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    errors = [maker.communicate()[1] for maker in makers]
    assert errors == [""] * 4
