"""What a command of a shell can say itself: its programs' own messages, apart from the content they show.

In: the source of a shell command, and what it printed. Out: the line in which one of its programs reports a
failure. `grep`, `cat` and the like print documents, which may hold any words: of these only a line that
begins with the program's own name is a message. Nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

# Programs that show documents, or nothing of their own.
_SHOWING = frozenset(
    str.split(
        "cat grep egrep fgrep rg ag tail head less more sed awk gawk cut sort uniq nl tac rev echo printf"
        " ls find"
        " wc diff comm jq yq cd pwd tr column zcat zgrep xxd od hexdump strings journalctl dmesg man tree"
        " stat"
        " file tee fold paste curl wget bat history env printenv date true false test sleep export set which"
        " type command basename dirname realpath readlink du df ps"
    )
)

# Sub-commands that show documents.
_SHOWING_PARTS = {
    "git": frozenset(
        str.split("log show diff blame grep status branch tag stash reflog shortlog ls-files cat-file")
    ),
    "docker": frozenset({"logs", "inspect", "ps", "images"}),
    "kubectl": frozenset({"logs", "describe", "get", "explain"}),
    "pip": frozenset({"help", "list", "show", "freeze"}),
    "npm": frozenset({"help", "ls", "view", "pkg"}),
}

# Programs and sub-commands of these that print nothing where they do what they are for.
_SILENT = frozenset(str.split("cd env export false set sleep tee test true wget branch tag stash"))

# What makes a command that shows documents write, change or hide them instead.
_WRITES = re.compile(r"(?<![0-9&])>|\s-(?:i|o|O|delete|exec|execdir|q|qq?)\b|\s--(?:in-place|output|quiet)\b")

# Programs that change something, where their part does not only show documents.
_DOING = frozenset(
    str.split(
        "pip pip3 pipx uv conda mamba poetry npm npx yarn pnpm gem cargo apt apt-get dnf yum apk brew make"
        " cmake ninja mvn gradle docker podman kubectl helm terraform ansible-playbook git svn mv cp rm"
        " mkdir rmdir ln chmod chown rsync scp tar unzip systemctl service kill pkill crontab dropdb createdb"
        " pg_restore"
    )
)

_SHELLS = r"(?:[\w./-]*/)?(?:ba|z|da|k)?sh"
_PART = re.compile(r"\|\||&&|[;|&\n]|\$\(|`")
_WORD = re.compile(r"[^\s'\"]+")
_ASSIGNMENT = re.compile(r"\A\w+=")
_MASKED = re.compile(r"\|\|\s*(?:true|:|echo|exit 0|printf)\b")
_NO_MESSAGE = re.compile(
    r"(?:warning|note|info|debug|hint|cannot set terminal process group|no job control)\b", re.IGNORECASE
)
_MAX_CHARS = 20_000
# A program that only fails says so in few lines.
_MAX_OWN_LINES = 6


@dataclass(frozen=True, slots=True)
class Command:
    """What is known of a shell command.

    Attributes:
        programs: the names of the programs it calls.
        shows: all of them only show documents.
        looks_up: it ends with one of these that prints what it finds: no output means that there is none.
        masked: a failure of it is caught (`|| true`).
        does: a program of it changes something.
    """

    programs: frozenset[str]
    shows: bool
    looks_up: bool
    masked: bool
    does: bool


@lru_cache(maxsize=128)
def read_command(source: str) -> Command:
    """Return what is known of a command of a shell."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", source[:_MAX_CHARS])
    calls = [words for part in _PART.split(bare) if (words := _split_words(part))]
    programs = frozenset(words[0].rpartition("/")[2] for words in calls)
    shows = bool(calls) and all(map(_shows, calls))
    looks_up = shows and not _SILENT.intersection(calls[-1][:2]) and _WRITES.search(bare) is None
    does = any(words[0].rpartition("/")[2] in _DOING and not _shows(words) for words in calls)
    return Command(programs, shows, looks_up, _MASKED.search(bare) is not None, does)


def find_own_message(command: Command, lines: Sequence[str]) -> str | None:
    """Return the line in which a program of the command reports its failure, None where none does."""
    if command.masked or not lines:
        return None
    names = "|".join(sorted(map(re.escape, command.programs)))
    own = re.compile(
        rf"(?:(?:[\w./-]*/)?(?:{names})(?:\.exe)?(?:\[\d+\])?: |{_SHELLS}: (?:line \d+: |-c: )?)(?=\S)"
    )
    for line in dict.fromkeys((lines[-1], lines[0])):
        found = own.match(line)
        if found is not None and not _NO_MESSAGE.match(line[found.end() :]):
            return line
    if (
        "git" in command.programs
        and len(lines) <= _MAX_OWN_LINES
        and re.match(r"(?:fatal|error): \S", lines[0])
    ):
        return lines[0]
    return None


def _split_words(part: str) -> list[str]:
    words = [word for word in _WORD.findall(part) if not _ASSIGNMENT.match(word)]
    while words and words[0] in {
        "sudo",
        "time",
        "nohup",
        "exec",
        "do",
        "then",
        "else",
        "if",
        "while",
        "(",
        "{",
        "!",
    }:
        words = words[1:]
    if not words or words[0] in {"done", "fi", "for", "case", "esac", ")", "}"}:
        return []
    return words


def _shows(words: Sequence[str]) -> bool:
    program = words[0].rpartition("/")[2]
    parts = _SHOWING_PARTS.get(program)
    if parts is None:
        return program in _SHOWING
    argument = next((word for word in words[1:] if not word.startswith("-")), "")
    return argument in parts
