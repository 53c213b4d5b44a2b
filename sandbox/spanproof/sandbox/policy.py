"""What a snippet may do: the declared boundary every scanner and every layer judges by.

In: nothing (`Policy()` is the default for data-analysis agents), or what `policy_file` read. Out: one frozen
value. A policy never grants what the sandbox withholds; it only defines what is inside. Standard library
only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Final

from spanproof.sandbox.model import Tier
from spanproof.sandbox.scanners.rules import PatternRule
from spanproof.sandbox.words import split_words

PUBLIC_DATA_HOSTS: Final = (
    "api.github.com",
    "*.wikipedia.org",
    "*.wikimedia.org",
    "www.wikidata.org",
    "api.worldbank.org",
    "api.stlouisfed.org",
    "api.census.gov",
    "api.open-meteo.com",
    "archive.ics.uci.edu",
    "export.arxiv.org",
    "query1.finance.yahoo.com",
    "query2.finance.yahoo.com",
    "data-api.ecb.europa.eu",
)
"""Read-mostly public sources of data, served by their owners, without pages of their users."""

ANY_PUBLIC_HOST: Final = "*"
"""In `hosts`: every name and address of the public internet, and none of a private network."""

DENIED_MODULES: Final = split_words(
    # Native code, other processes, the host and the terminal: nothing a data analysis needs.
    "ctypes cffi pty psutil winreg _winreg pynput keyboard pyautogui mss pexpect spwd nis"
    " scapy nmap impacket pwn pwntools Xlib win32api win32con fabric invoke sh pyperclip"
    " clipboard PIL.ImageGrab pyscreenshot sounddevice pyaudio GPUtil"
    " py3nvml pynvml cpuinfo wmi usb serial pcapy pyshark"
)
"""Modules whose calls are denied; importing them alone is reviewed."""

READ_VERBS: Final = split_words("select values explain describe show pragma use set")
"""What a SQL statement may be by default: those that leave the data as it is."""


SETTINGS_OF_ENVIRONMENT: Final = split_words(
    "LANG LANGUAGE LC_ALL LC_CTYPE LC_NUMERIC LC_TIME TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR TMPDIR PWD"
    " PYTHONHASHSEED MPLBACKEND MPLCONFIGDIR OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS"
    " NUMEXPR_NUM_THREADS CUDA_VISIBLE_DEVICES HOME HOSTNAME LOGNAME PATH SHELL USER PYTHONPATH VIRTUAL_ENV"
    " CI DEBUG VERBOSE LOG_LEVEL LOGLEVEL NODE_ENV SEED N_JOBS NUM_WORKERS PORT INPUT_DIR DATA_DIR OUTPUT_DIR"
)
"""Variables that say where a program runs, and how it shows, sorts and computes, and hold no secret."""

SUBJECT: Final = (
    "agent", "tool", "language", "project", "service", "model", "prompt_version", "task", "fixture_set",
    "executor", "release",
)  # fmt: skip
"""What an override is matched by: the agent, the tool that runs the snippet, the cohort's dimensions."""


class Aggregation(StrEnum):
    """How the scanners' verdicts become one."""

    ANY = "any"
    MAJORITY = "majority"
    ALL = "all"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class SqlRule:
    """What statements may do on one connection; the first rule that matches counts.

    Attributes:
        host, database, file: patterns, as shells match file names; None matches any.
        memory: whether it is for databases in the program's own memory, which are free without a rule.
        verbs, tables: as `Policy.sql_verbs` and `Policy.sql_tables`; None allows all.
    """

    host: str | None = None
    database: str | None = None
    file: str | None = None
    memory: bool = False
    verbs: frozenset[str] | None = None
    tables: frozenset[str] | None = None

    def concerns(self, host: str, database: str, file: str, *, memory: bool) -> bool:
        """Whether it holds for a connection; what is not known of one is empty, and matches `*` alone."""
        pairs = ((self.host, host), (self.database, database), (self.file, file))
        return memory == self.memory and all(
            pattern is None or fnmatchcase(value, pattern) for pattern, value in pairs
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The boundary of a snippet. Every field has the default for data-analysis agents.

    Attributes:
        name: for reports.
        allowed_modules: where not empty, calls into any other third-party module are reviewed.
        denied_modules: calls into these are denied, imports reviewed; submodules included.
        allowed_calls, denied_calls: resolved dotted names (`os.system`); allowed ones are not judged at all.
        work_directory: what relative paths are relative to, inside the sandbox.
        read_roots, write_roots: absolute directories; what is below them is inside.
        hosts: exact names, `*.name` for every name below it, or `*` for every public host.
        ports: those that may be connected to on an allowed host.
        environment: names of variables that may be read.
        allowed_commands, denied_commands: programs (`docker`) or their sub-commands (`docker ps`), on top of
            what the shell scanner knows; each word is a pattern, as shells match file names.
        sql_verbs: statements allowed, in lower case.
        sql_tables: tables allowed, in lower case; None allows all.
        sql_rules: what statements may do on single connections, instead of `sql_verbs` and `sql_tables`.
        aggregation: how the scanners' verdicts become one.
        weights: of scanners by name, for `weighted`; 1 where none is given.
        scanner_time_s: what each scanner may take, in seconds of processor time; None: by the text's size.
        rules: regular expressions of the user, as rules.
        scanner_files: Python files that hold scanners of the user.
        fingerprint_salt: the key of secrets' fingerprints; never shown.
        languages: those a snippet may be written in; None allows all. Data (JSON, text …) is not held to it.
        topics: words and patterns of the user over prose, as rules.
        bandit: whether bandit runs too, as an adviser; it must be installed.
        toxicity: whether prose is read for insults and abuse, as advice; needs the extra `toxicity`.
        sandbox_tier: the weakest wall a replay may run behind; None leaves it to the sandbox's own settings.
        overrides: changes for some agents, tools or cohorts; see `with_subject`.
    """

    name: str = "data-analysis"
    allowed_modules: frozenset[str] = frozenset()
    denied_modules: frozenset[str] = DENIED_MODULES
    allowed_calls: frozenset[str] = frozenset()
    denied_calls: frozenset[str] = frozenset()
    work_directory: str = "/work"
    read_roots: tuple[str, ...] = ("/work", "/tmp")  # noqa: S108 - inside the sandbox
    write_roots: tuple[str, ...] = ("/work", "/tmp")  # noqa: S108 - inside the sandbox
    hosts: tuple[str, ...] = PUBLIC_DATA_HOSTS
    ports: frozenset[int] = frozenset({80, 443})
    environment: frozenset[str] = SETTINGS_OF_ENVIRONMENT
    allowed_commands: frozenset[str] = frozenset()
    denied_commands: frozenset[str] = frozenset()
    sql_verbs: frozenset[str] = READ_VERBS
    sql_tables: frozenset[str] | None = None
    sql_rules: tuple[SqlRule, ...] = ()
    aggregation: Aggregation = Aggregation.ANY
    weights: tuple[tuple[str, float], ...] = ()
    scanner_time_s: float | None = None
    rules: tuple[PatternRule, ...] = ()
    scanner_files: tuple[str, ...] = ()
    fingerprint_salt: bytes = field(default=b"", repr=False)
    languages: frozenset[str] | None = None
    topics: tuple[PatternRule, ...] = ()
    bandit: bool = False
    toxicity: bool = False
    sandbox_tier: Tier | None = None
    overrides: tuple[Override, ...] = ()

    def with_subject(self, subject: Mapping[str, str]) -> Policy:
        """Return the policy for one subject: this one, with each matching override, later over earlier.

        Args:
            subject: values by the names in `SUBJECT`; what is not known is left out.
        """
        return self.with_overrides([one for one in self.overrides if one.concerns(subject)])

    def with_overrides(self, overrides: Iterable[Override]) -> Policy:
        """Return this policy with these of its overrides applied, in order."""
        changes: dict[str, Any] = {}
        for override in overrides:
            changes.update(override.changes)
        return replace(self, overrides=(), **changes)


@dataclass(frozen=True, slots=True)
class Override:
    """Changes of a policy for some agents, tools or cohorts.

    Attributes:
        when: patterns by the names in `SUBJECT`, as shells match file names; one of each must match.
        changes: fields of `Policy` and their values.
    """

    when: tuple[tuple[str, tuple[str, ...]], ...]
    changes: tuple[tuple[str, Any], ...]

    def concerns(self, subject: Mapping[str, str]) -> bool:
        """Whether it holds for this subject; what is not known of a subject matches `*` alone."""
        return all(
            any(fnmatchcase(subject.get(name, ""), pattern) for pattern in patterns)
            for name, patterns in self.when
        )
