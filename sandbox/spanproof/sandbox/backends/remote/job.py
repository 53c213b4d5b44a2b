"""From a program or a session to the job the guest is given: JSON, everything of bytes in base64.

Its tests and its recorded calls go by themselves, because the program's process inherits its job.
"""

from __future__ import annotations

import base64
from dataclasses import asdict

from spanproof.sandbox.errors import UnsupportedFixtures
from spanproof.sandbox.guest.wire import Header
from spanproof.sandbox.model import Database, Fixtures, Program, SessionSpec
from spanproof.sandbox.supervisor.fixtures.job import encode_tape


def build_job(program: Program) -> Header:
    """Build the job of a program."""
    return {
        "language": program.language,
        "limits": asdict(program.limits),
        "files": {name: encode_bytes(data) for name, data in program.files.items()},
        "stdin": encode_bytes(program.stdin),
        "source": encode_source(program.source),
        "has_tests": program.tests is not None,
        "has_tape": bool(program.fixtures.http),
        "entry_point": program.entry_point,
        "database": {**asdict(Database()), "memory_bytes": program.limits.memory_bytes},
        "seed": program.fixtures.seed,
        "clock_s": None if (clock := program.fixtures.clock) is None else clock.start_s,
    }


def build_session_job(spec: SessionSpec) -> Header:
    """Build the job of a session."""
    program = Program("session", "", files=spec.files, limits=spec.limits, fixtures=spec.fixtures)
    return {**build_job(program), "tools": [[stub.name, stub.parameters] for stub in spec.tools]}


def collect_separate_parts(fixtures: Fixtures, tests: str | None = None) -> dict[str, bytes]:
    """Return what of a job goes by itself, by the end of its file's name.

    Raises:
        UnsupportedFixtures: a recorded call is no call of HTTP, or there is nothing to encrypt it with.
    """
    found = {"tape": b"".join(encode_tape(fixtures))} if fixtures.http else {}
    if tests is not None:
        found["tests"] = tests.encode("utf-8", "surrogatepass")
    return found


def encode_bytes(data: bytes) -> str:
    """Encode bytes as text."""
    return base64.b64encode(data).decode("ascii")


def encode_source(text: str) -> str:
    """Encode any text, lone surrogates included."""
    return encode_bytes(text.encode("utf-8", "surrogatepass"))


def check_fixtures(fixtures: Fixtures, language: str, service: str) -> None:
    """Refuse what cannot be fixed over there.

    Raises:
        UnsupportedFixtures: names the first such.
    """
    clock, python = fixtures.clock, language == "python"
    required = {
        "a package set": fixtures.packages is not None,
        "a database": fixtures.database != Database(),
        f"a seed to {language}": fixtures.seed is not None and not python,
        f"a clock to {language}": clock is not None and not python,
        "a clock of another rate": clock is not None and clock.rate != 1,
    }
    for name, wanted in required.items():
        if wanted:
            raise UnsupportedFixtures(f"the {service} backend cannot give {name}; use the jail")
