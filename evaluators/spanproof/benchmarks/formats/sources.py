"""Where a benchmark's files are on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spanproof.benchmarks.errors import BenchmarkError


@dataclass(frozen=True, slots=True)
class Source:
    """The local files of a benchmark.

    Attributes:
        problems: a file, or a folder of files.
        answers: of tool calling, where the expected calls lie apart.
        databases: of SQL: `NAME/NAME.sqlite` below it.
        image: of patches: the local image of an instance, with `{instance}` and `{id}` to fill in.
    """

    problems: Path
    answers: Path | None = None
    databases: Path | None = None
    image: str = "swebench/sweb.eval.x86_64.{instance}:latest"

    def get_databases(self) -> Path:
        """Return the folder of databases.

        Raises:
            BenchmarkError: it is not given.
        """
        if self.databases is None:
            raise BenchmarkError("the queries need their databases: give the folder with --databases")
        return self.databases
