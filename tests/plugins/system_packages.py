"""Reads which programs the Debian packages that `make test` installs bring.

`python tests/plugins/system_packages.py DIRECTORY` links them into a new directory, to be the whole PATH.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_LIST = Path(__file__).parents[1] / "system-packages.txt"


def list_programs() -> list[str]:
    """Return the names of the programs: the list also has paths of files, which are read and not started."""
    lines = (line.split() for line in _LIST.read_text().splitlines() if line and not line.startswith("#"))
    return sorted(name for _package, *names in lines for name in names if "/" not in name)


def link_programs(directory: Path) -> None:
    """Link each program into a new directory; raises FileNotFoundError where PATH has no such program."""
    directory.mkdir(parents=True)
    for name in list_programs():
        found = shutil.which(name)
        if found is None:
            raise FileNotFoundError(f"{name} is missing: run `make .venv/.system`")
        (directory / name).symlink_to(found)


if __name__ == "__main__":
    link_programs(Path(sys.argv[1]))
