"""Files that name packages, and the keys and versions of locks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox import Ecosystem, EnvironmentUnavailable, PackageSet
from spanproof.sandbox.environments import Lock, Locked, read_packages
from spanproof.sandbox.environments.lock import compute_wish_key, is_same_version

HASH = "a" * 64


def read(tmp_path: Path, text: str, name: str = "requirements.txt"):
    path = tmp_path / name
    path.write_text(text)
    return read_packages(path)


def test_requirements_are_read_with_comments_extras_and_hashes(tmp_path: Path) -> None:
    text = (
        f"# ours\nRequests==2.32.3 \\\n    --hash=sha256:{HASH} \\\n    --hash=sha256:{'b' * 64}\n\n"
        "uvicorn[standard]==0.30.1  # with extras\n"
    )
    wanted = read(tmp_path, text)
    assert wanted.packages == PackageSet(Ecosystem.PIP, ("Requests==2.32.3", "uvicorn[standard]==0.30.1"))
    assert wanted.hashes == {"requests": {HASH, "b" * 64}}


@pytest.mark.parametrize(
    "line",
    ["-r x", "--index-url x", "-e .", "a>=1", "a", "a==1; python_version<'3'", "https://x/a", "a==*", ""],
)
def test_what_is_no_exact_pin_is_refused_by_file_and_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"requirements\.txt"):
        read(tmp_path, line)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"packages": {"": {"dependencies": {"a": "1"}}}}', "{"])
def test_what_is_no_npm_lock_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"package-lock\.json"):
        read(tmp_path, text, "package-lock.json")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"nowhere\.txt"):
        read_packages(tmp_path / "nowhere.txt")


def test_one_wish_has_one_key_however_it_is_spelt() -> None:
    def key(*pins: str, ecosystem: Ecosystem = Ecosystem.PIP) -> str:
        return compute_wish_key(PackageSet(ecosystem, pins))

    assert key("A.b==1.0", "c==2") == key("c==2", " a-b==1.0 ")
    assert len({key("a==1"), key("a==2"), key("b==1"), key("a[x]==1"), key("a==1", "b==1")}) == 5
    assert key("a@1.0.0", ecosystem=Ecosystem.NPM) != key("a@1.0.1", ecosystem=Ecosystem.NPM)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("1.0", "1.0.0", True), ("1.0", "1.0.1", False), ("1.0+a-b", "1.0+a.b", True), ("10", "1", False)],
)
def test_versions_are_compared_as_pip_does(one: str, other: str, same: bool) -> None:
    assert is_same_version(one, other) is same


words = st.text(min_size=1, max_size=10)


@given(st.builds(Lock, st.sampled_from(Ecosystem), words, words, st.lists(words).map(tuple),
                 st.lists(st.builds(Locked, words, words, words, words, words)).map(tuple)))  # fmt: skip
def test_a_lock_reads_back_as_it_was(lock: Lock) -> None:
    assert Lock.read(lock.to_text()) == lock
    assert Lock.read(lock.to_text()).key == lock.key


@given(
    st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_what_is_no_lock_is_a_value_error(document: object) -> None:
    with pytest.raises(ValueError):
        Lock.read(json.dumps(document))
