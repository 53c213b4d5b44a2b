"""Print the version that the site is published under: `1.4` for all of 1.4.x, whose documentation is one."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

if __name__ == "__main__":
    version = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    sys.stdout.write(".".join(version.split(".")[:2]) + "\n")
