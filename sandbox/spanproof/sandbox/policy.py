"""What a snippet may do: the declared boundary every scanner and every layer judges by.

In: nothing (`Policy()` is the default for data-analysis agents) or a YAML file. Out: one frozen value. A
policy never grants what the sandbox withholds; it only says what counts as inside. Standard library only;
PyYAML is imported when a file is read.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.words import words

if TYPE_CHECKING:
    from spanproof.sandbox.scanners.patterns import PatternRule

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
"""Read-mostly public sources of data, served by their owners, where nobody can put up a page of their own."""

DENIED_MODULES: Final = words(
    # Native code, other processes, the host and the terminal: nothing a data analysis needs.
    "ctypes cffi pty psutil winreg _winreg pynput keyboard pyautogui mss pexpect spwd nis"
    " scapy nmap impacket pwn pwntools Xlib win32api win32con fabric invoke sh pyperclip"
    " clipboard PIL.ImageGrab pyscreenshot sounddevice pyaudio GPUtil"
    " py3nvml pynvml cpuinfo wmi usb serial pcapy pyshark"
)
"""Modules whose calls are denied; importing them alone asks for a review."""

READ_VERBS: Final = words("select values explain describe show pragma use set")
"""What a SQL statement may be by default: those that leave the data as it is."""


class Aggregation(StrEnum):
    """How the scanners' verdicts become one."""

    ANY = "any"
    MAJORITY = "majority"
    ALL = "all"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class Policy:
    """The boundary of a snippet. Every field has the default for data-analysis agents.

    Attributes:
        name: for reports.
        allowed_modules: where not empty, calls into any other third-party module ask for a review.
        denied_modules: calls into these are denied, imports reviewed; submodules included.
        allowed_calls, denied_calls: resolved dotted names (`os.system`); allowed ones are not judged at all.
        work_directory: what relative paths are relative to, inside the sandbox.
        read_roots, write_roots: absolute directories; what is below them is inside.
        hosts: exact names, or `*.name` for every name below it.
        ports: those that may be connected to on an allowed host.
        environment: names of variables that may be read.
        allowed_commands, denied_commands: program names, on top of what the shell scanner knows.
        sql_verbs: statements allowed, in lower case.
        sql_tables: tables allowed, in lower case; None allows all.
        aggregation: how the scanners' verdicts become one.
        weights: of scanners by name, for `weighted`; 1 where none is given.
        scanner_time_s: what each scanner may take, in seconds; None lets it grow with the source.
        rules: regular expressions of the user, as rules.
        scanner_files: Python files that hold scanners of the user.
        fingerprint_salt: the key of secrets' fingerprints; never shown.
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
    environment: frozenset[str] = frozenset()
    allowed_commands: frozenset[str] = frozenset()
    denied_commands: frozenset[str] = frozenset()
    sql_verbs: frozenset[str] = READ_VERBS
    sql_tables: frozenset[str] | None = None
    aggregation: Aggregation = Aggregation.ANY
    weights: tuple[tuple[str, float], ...] = ()
    scanner_time_s: float | None = None
    rules: tuple[PatternRule, ...] = ()
    scanner_files: tuple[str, ...] = ()
    fingerprint_salt: bytes = field(default=b"", repr=False)


def load_policy(path: Path) -> Policy:
    """Read a policy from a YAML file; what the file does not name keeps its default.

    Raises:
        PolicyError: the file is absent, no YAML, or says what a policy cannot; names file, key, value,
        remedy.
    """
    import yaml

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise PolicyError(
            f"policy {path}: cannot be read: {problem}; name a readable UTF-8 file"
        ) from problem
    except (yaml.YAMLError, RecursionError) as problem:
        place = " ".join(str(problem).split())
        raise PolicyError(f"policy {path}: not valid YAML: {place}; mend the file there") from problem
    if document is None:
        return Policy()
    if not isinstance(document, Mapping):
        raise PolicyError(
            f"policy {path}: holds a {_kind(document)}, not keys and values; write `hosts: [api.github.com]`"
        )
    policy = policy_from(document, str(path))
    # What a policy names relative to itself stays with it wherever the program is started.
    files = tuple(str(path.parent / one) for one in policy.scanner_files)
    if files:
        from spanproof.sandbox.scanners.plugins import scanners_in

        for one in files:
            scanners_in(one)
    return replace(policy, scanner_files=files)


def policy_from(document: Mapping[object, object], origin: str) -> Policy:
    """A policy from decoded keys and values; `origin` names the document in errors.

    Raises:
        PolicyError: a key is unknown or a value is not what the key takes.
    """
    known = [one.name for one in fields(Policy)]
    values: dict[str, object] = {}
    for key, value in document.items():
        if key not in _READERS:
            nearest = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"known keys: {', '.join(known)}"
            raise PolicyError(f"policy {origin}: unknown key {str(key)!r}; {hint}")
        values[str(key)] = _READERS[str(key)](_Place(origin, str(key)), value)
    return Policy(**values)  # type: ignore[arg-type]  # each reader returns its field's type


@dataclass(frozen=True, slots=True)
class _Place:
    origin: str
    key: str

    def refuse(self, value: object, remedy: str) -> PolicyError:
        shown = repr(value)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."
        return PolicyError(f"policy {self.origin}: key {self.key!r} cannot be {shown}; {remedy}")


def _text(place: _Place, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise place.refuse(value, "give a text")
    return value.strip()


def _texts(place: _Place, value: object) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, f"give a list, as in `{place.key}: [a, b]`")
    return [_text(place, item) for item in value]


def _names(place: _Place, value: object) -> frozenset[str]:
    return frozenset(_texts(place, value))


def _lower_names(place: _Place, value: object) -> frozenset[str]:
    return frozenset(item.lower() for item in _texts(place, value))


def _tables(place: _Place, value: object) -> frozenset[str] | None:
    return None if value is None else _lower_names(place, value)


def _directory(place: _Place, value: object) -> str:
    path = _text(place, value)
    if not path.startswith("/"):
        raise place.refuse(value, "give an absolute path, as the sandbox sees it")
    return posixpath.normpath(path)


def _directories(place: _Place, value: object) -> tuple[str, ...]:
    return tuple(_directory(place, item) for item in _texts(place, value))


def _hosts(place: _Place, value: object) -> tuple[str, ...]:
    hosts = tuple(item.lower().rstrip(".") for item in _texts(place, value))
    for host in hosts:
        if "/" in host or (":" in host.strip("[]") and not host.startswith("[")):
            raise place.refuse(host, "give a host name alone; ports have a key of their own: `ports: [443]`")
        if "*" in host.removeprefix("*."):
            raise place.refuse(host, "a star stands for what is below a name only, as in `*.example.org`")
    return hosts


def _ports(place: _Place, value: object) -> frozenset[int]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, "give a list, as in `ports: [443]`")
    for port in value:
        if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
            raise place.refuse(port, "a port is a number from 1 to 65535")
    return frozenset(value)


def _aggregation(place: _Place, value: object) -> Aggregation:
    try:
        return Aggregation(str(value))
    except ValueError:
        raise place.refuse(value, f"give one of {', '.join(Aggregation)}") from None


def _weights(place: _Place, value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping):
        raise place.refuse(value, "give scanners and numbers, as in `weights: {python: 2}`")
    for weight in value.values():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 1e9:
            raise place.refuse(weight, "a weight is a number, not below 0")
    return tuple((str(name), float(weight)) for name, weight in value.items())


def _seconds(place: _Place, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 3600:
        raise place.refuse(value, "give seconds, above 0 and at most 3600")
    return float(value)


def _rules(place: _Place, value: object) -> tuple[PatternRule, ...]:
    from spanproof.sandbox.scanners.patterns import rule_from

    if isinstance(value, str) or not isinstance(value, Sequence):
        raise place.refuse(value, "give a list of rules")
    rules = tuple(rule_from(one, f"policy {place.origin}: key 'rules'") for one in value)
    twice = {rule.id for rule in rules if sum(one.id == rule.id for one in rules) > 1}
    if twice:
        raise place.refuse(min(twice), "each rule needs an id of its own")
    return rules


def _salt(place: _Place, value: object) -> bytes:
    text = value if isinstance(value, str) else ""
    if len(text) < 16:
        raise PolicyError(
            f"policy {place.origin}: key {place.key!r} is too short; give at least 16 characters, in quotes"
        )
    return text.encode("utf-8", "surrogatepass")[:64]


_READERS: Final[Mapping[object, Callable[[_Place, object], object]]] = {
    "name": _text,
    "allowed_modules": _names,
    "denied_modules": _names,
    "allowed_calls": _names,
    "denied_calls": _names,
    "work_directory": _directory,
    "read_roots": _directories,
    "write_roots": _directories,
    "hosts": _hosts,
    "ports": _ports,
    "environment": _names,
    "allowed_commands": _names,
    "denied_commands": _names,
    "sql_verbs": _lower_names,
    "sql_tables": _tables,
    "aggregation": _aggregation,
    "weights": _weights,
    "scanner_time_s": _seconds,
    "rules": _rules,
    "scanner_files": lambda place, value: tuple(_texts(place, value)),
    "fingerprint_salt": _salt,
}


def _kind(value: object) -> str:
    return "list" if isinstance(value, list) else "text" if isinstance(value, str) else type(value).__name__
