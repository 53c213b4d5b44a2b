"""The policies that come with Spanproof, one file for each kind of agent.

In: the YAML files of this folder. Out: `Preset`s, whose entries each have a reason. `policy_file` reads them
by the same rules as a team's own file. PyYAML is imported when a preset is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from spanproof.sandbox.untrusted_files import load_yaml

DEFAULT_PRESET: Final = "data-analysis"
"""The one that holds where nothing else is chosen: `Policy()`."""

PRESET_NAMES: Final = (
    DEFAULT_PRESET,
    "devops",
    "coding",
    "browser-research",
    "read-only-sql",
    "support",
)
"""In the order of the documentation."""

_FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Entry:
    """Values of one key of a policy that have one reason.

    Attributes:
        key: of the policy, such as `hosts`.
        values: those that it holds, in the order of the file.
        reason: why, in a few words.
        removed: whether the values are taken out of the default, instead of stated.
    """

    key: str
    values: tuple[str, ...]
    reason: str
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """A policy with the reason of each entry.

    Attributes:
        about: what the agent does, as the end of "an agent that …".
        allows, denies: what is inside the boundary and what is not, in a sentence each.
        keys: the policy's keys that it states; one without values is stated as empty.
    """

    name: str
    about: str
    allows: str
    denies: str
    keys: tuple[str, ...]
    entries: tuple[Entry, ...]

    def to_document(self) -> dict[object, object]:
        """Return the keys and values that a policy file would hold."""
        document: dict[object, object] = {"name": self.name}
        document |= {key: self._list_values(key, removed=False) for key in self.keys}
        removed = dict.fromkeys(entry.key for entry in self.entries if entry.removed)
        if removed:
            document["remove"] = {key: self._list_values(key, removed=True) for key in removed}
        return document

    def _list_values(self, key: str, *, removed: bool) -> list[str | int]:
        texts = [
            value
            for entry in self.entries
            if entry.key == key and entry.removed is removed
            for value in entry.values
        ]
        if key == "ports":
            return [int(text) for text in texts]
        return list(texts)


@cache
def get_preset(name: str) -> Preset:
    """Return the preset of this name, one of `PRESET_NAMES`."""
    document = load_yaml((_FOLDER / f"{name}.yaml").read_bytes())
    stated: Mapping[str, Mapping[object, str]] = document["keys"]
    removed: Mapping[str, Mapping[object, str]] = document.get("remove", {})
    entries = [
        Entry(key, tuple(str(values).split(", ")), reason, is_removed)
        for section, is_removed in ((stated, False), (removed, True))
        for key, reasons in section.items()
        for values, reason in reasons.items()
    ]
    return Preset(
        name, document["about"], document["allows"], document["denies"], tuple(stated), tuple(entries)
    )
