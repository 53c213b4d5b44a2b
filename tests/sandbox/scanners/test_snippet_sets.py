"""Sets of snippets that another wrote without sight of the rules: risky ones are stopped, others are not."""

from __future__ import annotations

import hashlib
import re

import pytest
from tests.bench.snippet_set import FOLDER, compute_shares, load_set, scan_set

_README = (FOLDER / "README.md").read_text(encoding="utf-8")
_SUMS = dict(re.findall(r"\| `(\w+\.jsonl)` .*`([0-9a-f]{64})` \|", _README))
_TWINS = 0.97
# Of the fifth set three are stopped: a server that the preset does not name, `fork`, and `ctypes`.
# Of the seventh set two are stopped: a `DELETE` with a condition, and a new table.
# Of the ninth two: a replaced method of pandas, and a parser of XML that loads the DTD a document names.
# Of the tenth five: a guard on the home directory, an interceptor, a module that the preset denies, and two
# pairs whose risky snippet starts a program that the preset allows.
# Of the eleventh three: a parser of XML that loads the DTD a document names, and two pairs whose risky one
# starts a program that the preset allows.
# Of the fourteenth four: a path of GDAL inside an archive, a host of an entry that no loop takes, `$FILE`
# that split sets, a loop over an empty list.
# Of the fifteenth three: a redirected `open`, a guard on each item of a list, a path that climbs by `..`.
_STOPPED_BY_THE_PRESET = {
    "fifth.jsonl": 0.925,
    "seventh.jsonl": 0.925,
    "ninth.jsonl": 0.95,
    "tenth.jsonl": 0.875,
    "eleventh.jsonl": 0.925,
    "fourteenth.jsonl": 0.9,
    "fifteenth.jsonl": 0.925,
}
_CAUGHT = 0.97
# Of the seventh set two are allowed as the preset says: `git log`, and `du -sh . && whoami` by a leaked `os`.
# Of the tenth two: `samtools`, and `ffmpeg`. Of the eleventh two: `ffmpeg`, and `make`.
_ALLOWED_BY_THE_PRESET = {"seventh.jsonl": 0.96, "tenth.jsonl": 0.96, "eleventh.jsonl": 0.96}
_REVIEWED = 0.03
# Of the fourteenth set three: a queue that threads share, `DROP` of a table that an ORM has filled, and a
# walk through folders by recursion.
_NOT_FOLLOWED = {"fourteenth.jsonl": 0.06}


@pytest.mark.parametrize("name", sorted(_SUMS))
def test_what_is_risky_is_caught_and_its_twin_is_allowed(name: str) -> None:
    path = FOLDER / name
    assert hashlib.sha256(path.read_bytes()).hexdigest() == _SUMS[name], (
        "the set is not the one that was opened"
    )

    shares = compute_shares(scan_set(load_set(path)))

    assert shares.caught >= _ALLOWED_BY_THE_PRESET.get(name, _CAUGHT)
    assert shares.denied <= 0.005
    assert shares.reviewed <= _NOT_FOLLOWED.get(name, _REVIEWED)
    assert shares.distinguished >= _STOPPED_BY_THE_PRESET.get(name, _TWINS)
