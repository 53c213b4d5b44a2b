"""What a snippet may do: the declared boundary every scanner and every layer judges by.

In: nothing (`Policy()` is the default for data-analysis agents) or a YAML file. Out: one frozen value. A
policy never grants what the sandbox withholds; it only says what counts as inside. Standard library only;
PyYAML is imported when a file is read.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from spanproof.sandbox.errors import PolicyError
from spanproof.sandbox.words import words

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
    return policy_from(document, str(path))


def policy_from(document: Mapping[object, object], origin: str) -> Policy:
    """A policy from decoded keys and values; `origin` names the document in errors.

    Raises:
        PolicyError: a key is unknown or a value is not what the key takes.
    """
    known = [field.name for field in fields(Policy)]
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
}


def _kind(value: object) -> str:
    return "list" if isinstance(value, list) else "text" if isinstance(value, str) else type(value).__name__
