"""What the seccomp filter does with each system call, by name; `calls.txt` holds the list."""

from __future__ import annotations

from importlib.resources import files

from spanproof.sandbox.catalogue import read_sections, split_entry

CALLS = read_sections(files(__package__) / "calls.txt")
_VERDICTS = CALLS["verdicts"]
ALLOWED = split_entry(_VERDICTS, "allowed")
WATCHED = split_entry(_VERDICTS, "watched")
REFUSED = split_entry(_VERDICTS, "refused")
CONDITIONAL = split_entry(_VERDICTS, "conditional")

NAMED = ALLOWED | WATCHED | REFUSED | CONDITIONAL
"""Every call the filter knows; the numbers table must hold each on at least one architecture."""

ENDS = frozenset(("exit_group",))
"""Shown to the supervisor where the last process of a program, held at its end, is all that is left of it."""

FORKS = frozenset(("clone", "fork", "vfork"))
"""Shown to the supervisor where the kernel does not bound how many processes a user has."""
