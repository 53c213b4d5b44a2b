"""The boundary: whether a path may be read, a host reached, a variable read.

In: what a scanner resolved, as pieces of text with holes where it could not. Out: None when inside, else the
crossing with its rule. Paths are normalised as the sandbox sees them; nothing is looked up on this machine.
"""

from __future__ import annotations

import ipaddress
import posixpath
import re
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from spanproof.sandbox.catalogue import split_entry
from spanproof.sandbox.policy import ANY_PUBLIC_HOST, Policy
from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.policy_lines import format_addition

Pieces = tuple[str | None, ...]
"""A text in parts; None is a part that is not known."""

PLACES: Final = read_sections("places")
_ALWAYS_READABLE: Final = split_entry(PLACES["paths"], "devices")
_ABSENT: Final = split_entry(PLACES["paths"], "absent")
_METADATA_HOSTS: Final = split_entry(PLACES["hosts"], "metadata")
_PRIVATE_ENDS: Final = split_entry(PLACES["hosts"], "private")
_IMPLIED_PORTS: Final = {scheme: int(port) for scheme, port in PLACES["ports"].items()}


class Action(StrEnum):
    """What is done to a path."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    PERMISSION = "permission"


_DONE = {
    Action.READ: "reads",
    Action.WRITE: "writes",
    Action.DELETE: "deletes",
    Action.PERMISSION: "changes the permissions of",
}


class UseKind(StrEnum):
    """What a program uses that a policy can name."""

    HOST = "host"
    PORT = "port"
    READ = "read"
    WRITE = "write"
    VARIABLE = "variable"
    COMMAND = "command"
    MODULE = "module"
    STATEMENT = "statement"


class Crossing(NamedTuple):
    """How a resolved target leaves the boundary: rule id without language, message, what would allow it.

    `policy_line` is the line of a policy file, and empty where no line allows it. `path` is what is read, and
    empty where something else is done.
    """

    rule: str
    message: str
    policy_line: str = ""
    path: str = ""


class Boundary:
    """Judges what a program reaches by one policy. Immutable and shared between threads.

    `RecordingBoundary` keeps what is used beside judging it.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._roots = {
            Action.READ: policy.read_roots,
            Action.WRITE: policy.write_roots,
            Action.DELETE: policy.write_roots,
            Action.PERMISSION: policy.write_roots,
        }

    def note_use(self, kind: UseKind, value: str) -> None:
        """Take note of a use whose value is known; nothing is kept here."""

    def path(self, action: Action, pieces: Pieces, *, holes_are_names: bool = False) -> Crossing | None:
        """Judge a path.

        Args:
            action: what is done to it.
            pieces: its text; holes where unknown.
            holes_are_names: whether each hole is known to be a plain file name or a number.
        """
        head = pieces[0] if pieces else ""
        if head is None and holes_are_names:
            return None
        if head is None:
            return Crossing("file.dynamic", f"{_DONE[action]} a path that is not known")
        if len(pieces) == 1:
            return self._judge_known_path(action, head)
        return self._judge_partial_path(action, pieces, head, holes_are_names)

    def host(self, host: str, port: int | None = None) -> Crossing | None:
        """Judge a host name or address, and a port where known."""
        name = _normalise_host(host)
        self.note_use(UseKind.HOST, name)
        if port is not None:
            self.note_use(UseKind.PORT, str(port))
        if name in _METADATA_HOSTS:
            return Crossing("network.metadata", f"reaches the metadata service {name}")
        if not self._allows_host(name):
            line = format_addition("hosts", name) if name else ""
            message = f"reaches {name or 'every host'}, which the policy does not name"
            return Crossing("network.host", message, line)
        if port is not None and port not in self.policy.ports:
            message = f"reaches {name} on port {port}, which the policy does not name"
            return Crossing("network.port", message, format_addition("ports", port))
        return None

    def host_in_pieces(self, pieces: Pieces, port: int | None = None) -> Crossing | None:
        """Judge a host that may be known only in part: judged by its end."""
        if len(pieces) == 1 and pieces[0] is not None:
            return self.host(pieces[0], port)
        end = (pieces[-1] or "").rstrip(".").lower() if pieces else ""
        if "." in end and not any(_may_end(allowed, end) for allowed in self.policy.hosts):
            return Crossing(
                "network.host",
                f"reaches a host below {_make_printable(end.lstrip('.'))}, which the policy does not name",
            )
        return Crossing("network.dynamic", "reaches a host that is not known")

    def listen(self, pieces: Pieces) -> Crossing | None:
        """Judge the address that a server binds: inside is one of the loopback that `hosts` names."""
        known = pieces[0] if len(pieces) == 1 else None
        name = _normalise_host(known or "")
        is_local = name == "localhost" or _is_loopback(name)
        if is_local and self._allows_host(name):
            self.note_use(UseKind.HOST, name)
            return None
        if is_local:
            message = f"listens on {name}, which `hosts` does not name"
            return Crossing("network.listen", message, format_addition("hosts", name))
        if known is None:
            shown = "an address that is not known"
        else:
            shown = _make_printable(name) or "every address"
        return Crossing("network.listen", f"listens on {shown}, which others reach")

    def url(self, pieces: Pieces) -> Crossing | None:
        """Judge a URL; one without a scheme is judged as a host."""
        head = pieces[0] if pieces else ""
        if head is None:
            return Crossing("network.dynamic", "reaches a host that is not known")
        text = head.strip().replace("\\", "/")
        scheme, separator, rest = text.partition("://")
        if separator and scheme.lower() in {"zip", "tar", "gzip", "zip+file", "tar+file"}:
            return self.path(Action.READ, (rest.partition("!")[0], *pieces[1:]))
        if separator and scheme.lower() == "file":
            # `file://$PWD/x` begins at the work directory, which is written `.`.
            root = "" if rest.startswith("./") else "/"
            return self.path(Action.READ, (root + rest.partition("/")[2], *pieces[1:]))
        if text.startswith("data:"):
            return None
        if not separator:
            text, rest = "//" + text.lstrip("/"), text
        whole = len(pieces) == 1 or any(mark in rest for mark in "/?#")
        if not whole:
            return self.host_in_pieces(_select_host_pieces((rest, *pieces[1:])))
        return self._split_url(text)

    def environment(self, name: str) -> Crossing | None:
        """Judge the reading of an environment variable; an empty name means all of them."""
        self.note_use(UseKind.VARIABLE, name)
        if name in self.policy.environment:
            return None
        line = format_addition("environment", name) if name else ""
        return Crossing("environment.read", f"reads {name or 'all variables'} from the environment", line)

    def work_path(self, path: str) -> str:
        """Return the absolute, normalised form of a path as the sandbox sees it."""
        if path.startswith("~"):
            if path[1:2] in {"", "/"}:
                return "/home/user/" + path[1:].lstrip("/")
            return "/home/" + path[1:]
        absolute = posixpath.normpath(posixpath.join(self.policy.work_directory, path))
        # POSIX leaves two leading slashes alone; no file system here gives them a meaning.
        return "/" + absolute.lstrip("/")

    def _split_url(self, text: str) -> Crossing | None:
        try:
            split = urlsplit(text)
            host, port = split.hostname or "", split.port or _IMPLIED_PORTS.get(split.scheme.lower())
        except ValueError:
            return Crossing("network.host", f"reaches a host that cannot be read: {_make_printable(text)}")
        return self.host(unquote(host), port)

    def _judge_known_path(self, action: Action, text: str) -> Crossing | None:
        path = self.work_path(text.partition("\0")[0])
        shown = text if text.startswith("~") else path
        if path in _ALWAYS_READABLE or path.startswith("/dev/fd/"):
            is_allowed = action in (Action.READ, Action.WRITE)
            if is_allowed:
                return None
            return self._build_outside_crossing(action, shown)
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            return self.device_socket(path)
        if action is Action.READ and _is_absent(path):
            return None
        self.note_use(UseKind.READ if action is Action.READ else UseKind.WRITE, path)
        roots = self._roots[action]
        if action is Action.DELETE and path in {*roots, self.policy.work_directory}:
            return Crossing("file.delete-root", f"deletes {path}, a root directory of the boundary")
        if _is_below(path, roots):
            return None
        return self._build_outside_crossing(action, shown)

    def device_socket(self, path: str) -> Crossing | None:
        """Judge bash's network paths, `/dev/tcp/host/port`."""
        parts = path.split("/")
        host, port = parts[3], parts[4] if len(parts) > 4 else ""
        return self.host(host, find_port(port))

    def _judge_partial_path(
        self, action: Action, pieces: Pieces, head: str, holes_are_names: bool
    ) -> Crossing | None:
        climbs = any(piece is not None and ".." in piece for piece in pieces[1:])
        is_home_of_user = head.startswith("~") and "/" not in head
        if is_home_of_user or climbs:
            return _build_dynamic_crossing(action, head)
        directory = head.rpartition("/")[0] or ("/" if head.startswith("/") else ".")
        base = self.work_path(directory)
        roots = self._roots[action]
        if _is_below(base, roots):
            is_named = base != self.policy.work_directory or head.strip("./") != ""
            if holes_are_names or is_named:
                return None
            return _build_dynamic_crossing(action, head)
        reaches_root = any(root.startswith(base.rstrip("/") + "/") for root in roots)
        if reaches_root:
            return _build_dynamic_crossing(action, head)
        return self._build_outside_crossing(action, base + "/…")

    def _build_outside_crossing(self, action: Action, path: str) -> Crossing:
        if action is not Action.READ and path.startswith(("/dev/", "/proc/", "/sys/", "/boot/")):
            return Crossing(
                "file.device", f"{_DONE[action]} {_make_printable(path)}, a device or kernel interface"
            )
        return Crossing(
            f"file.{action}-outside",
            f"{_DONE[action]} {_make_printable(path)}, which is outside the boundary",
            format_addition("read_roots" if action is Action.READ else "write_roots", self.work_path(path)),
            self.work_path(path) if action is Action.READ else "",
        )

    def _allows_host(self, name: str) -> bool:
        for allowed in self.policy.hosts:
            if name == allowed or (allowed.startswith("*.") and name.endswith(allowed[1:])):
                return True
        return ANY_PUBLIC_HOST in self.policy.hosts and _is_public(name)


class RecordingBoundary(Boundary):
    """A boundary that keeps what is used, by kind. For one thread."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self.uses: dict[UseKind, set[str]] = {kind: set() for kind in UseKind}

    def note_use(self, kind: UseKind, value: str) -> None:
        """Keep a use; an empty value says that all of the kind are used, and names none."""
        if value:
            self.uses[kind].add(value)


def find_port(text: str) -> int | None:
    """Return the number of a port; None where the text is none."""
    return int(text) if text.isascii() and text.isdigit() else None


def _build_dynamic_crossing(action: Action, head: str) -> Crossing:
    return Crossing("file.dynamic", f"{_DONE[action]} a path known only in part: {_make_printable(head)}…")


def is_metadata_host(name: str) -> bool:
    """Whether a normalised name or address is that of a cloud's metadata service."""
    return name in _METADATA_HOSTS


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_public(name: str) -> bool:
    """Whether a normalised name or address is one of the public internet."""
    try:
        return ipaddress.ip_address(name).is_global
    except ValueError:
        last = name.rpartition(".")[2]
        return "." in name and last not in _PRIVATE_ENDS


def _may_end(allowed: str, end: str) -> bool:
    if allowed == ANY_PUBLIC_HOST:
        return _is_public("name." + end.lstrip("."))
    return allowed.endswith(end) or (allowed.startswith("*.") and end.endswith(allowed[1:]))


def _select_host_pieces(pieces: Pieces) -> Pieces:
    """Return the pieces of a URL, after its scheme, that make its host."""
    host: list[str | None] = []
    for piece in pieces:
        if piece is None:
            host.append(None)
            continue
        stop = next((at for at, one in enumerate(piece) if one in "/?#:"), len(piece))
        host.append(piece[:stop])
        if stop < len(piece):
            break
    return tuple(host)


def _is_absent(path: str) -> bool:
    """Whether a path says itself that nothing is there: `/nonexistent`, `/no/such/file.txt`."""
    first, _, rest = path[1:].partition("/")
    return first.partition(".")[0] in _ABSENT or (first == "no" and rest.startswith("such"))


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _normalise_host(host: str) -> str:
    name = host.strip().strip("[]").rstrip(".").lower()
    if name.isascii() and (name[:1].isdigit() or ":" in name):
        return _normalise_address(name)
    return name


def _normalise_address(name: str) -> str:
    """Return one spelling for an address: `0x7f.1`, `2130706433` and `127.1` are all 127.0.0.1."""
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        pass
    try:
        parts = [
            int(part, 0 if not part.startswith("0") or part[:2] in {"0x", "0"} else 8)
            for part in name.split(".")
        ]
        value = parts[-1]
        for index, part in enumerate(parts[:-1]):
            value |= part << (8 * (3 - index))
        return str(ipaddress.IPv4Address(value))
    except ValueError:
        return name


def _make_printable(text: str) -> str:
    plain = text if len(text) <= 120 else text[:119] + "…"
    return plain if plain.isprintable() else repr(plain)[1:-1]


# Files of a repository that name commands, or are ones.
_GIT_SETTINGS: Final = re.compile(r"(?:^|/)\.git/(?:config|hooks/|modules/|worktrees/)")


def is_git_setting(pieces: Pieces) -> bool:
    """Whether a path is that of a setting or hook of git, as far as it is known."""
    return _GIT_SETTINGS.search("".join(piece or "?" for piece in pieces)) is not None
