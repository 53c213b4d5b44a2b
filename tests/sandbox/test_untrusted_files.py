"""What may be read that somebody else's change names, and what a document may cost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox import untrusted_files
from spanproof.sandbox.untrusted_files import (
    MAX_DEPTH,
    MalformedYamlError,
    UnsafeFileError,
    build_yaml_value,
    is_beneath,
    load_yaml,
    load_yaml_nodes,
    read_beneath,
    read_bounded,
    read_regular,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file in it, beside a secret."""
    (tmp_path / "secret").write_bytes(b"SECRET")
    inside = tmp_path / "suite"
    (inside / "data").mkdir(parents=True)
    (inside / "data" / "in.txt").write_bytes(b"42")
    return inside


def test_a_file_beneath_the_folder_is_read(folder: Path) -> None:
    assert read_beneath(folder, "data/in.txt", 10) == b"42"
    assert read_beneath(folder, "data/../data/in.txt", 10) == b"42"


def test_a_link_to_another_file_beneath_the_folder_is_followed(folder: Path) -> None:
    (folder / "latest").symlink_to("data/in.txt")
    assert read_beneath(folder, "latest", 10) == b"42"


@pytest.mark.parametrize(
    "name", ["/etc/hostname", "../secret", "data/../../secret", "/proc/self/environ", "."]
)
def test_a_path_that_leaves_the_folder_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(UnsafeFileError, match="outside"):
        read_beneath(folder, name, 1 << 20)


@pytest.mark.parametrize("target", ["/etc/hostname", "../secret", "/dev/zero", "/proc/self/environ"])
def test_a_link_that_leaves_the_folder_is_refused(folder: Path, target: str) -> None:
    (folder / "link").symlink_to(target)
    (folder / "data" / "up").symlink_to(folder.parent)
    for name in ("link", "data/up/secret"):
        with pytest.raises(UnsafeFileError, match="outside"):
            read_beneath(folder, name, 1 << 20)


def test_a_link_that_is_exchanged_after_the_check_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = untrusted_files.get_path_beneath

    def exchange(root: Path, name: str) -> Path:
        found = resolve(root, name)
        found.unlink()
        found.symlink_to("/etc/hostname")
        return found

    monkeypatch.setattr(untrusted_files, "get_path_beneath", exchange)
    with pytest.raises(OSError, match="symbolic links"):
        read_beneath(folder, "data/in.txt", 10)


def test_a_pipe_is_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(UnsafeFileError, match="regular"):
        read_beneath(folder, "pipe", 10)


def test_a_large_file_is_refused_and_a_device_read_up_to_the_bound(folder: Path) -> None:
    with pytest.raises(UnsafeFileError, match="more than 1 bytes"):
        read_beneath(folder, "data/in.txt", 1)
    with pytest.raises(UnsafeFileError, match="more than 1000 bytes"):
        read_bounded(Path("/dev/zero"), 1000)


def test_a_missing_file_and_a_folder_are_errors_of_the_system(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_beneath(folder, "absent", 10)
    with pytest.raises(IsADirectoryError):
        read_beneath(folder, "data", 10)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
def test_a_document_gives_what_pyyaml_gives(value: object) -> None:
    text = yaml.safe_dump(value)
    assert load_yaml(text.encode()) == yaml.safe_load(text)


def test_anchors_and_merges_are_read() -> None:
    assert load_yaml(b"a: &a {x: 1}\nb: {<<: *a, y: 2}\n") == {"a": {"x": 1}, "b": {"x": 1, "y": 2}}
    assert load_yaml(b"") is None


_LAUGHS = b"a0: &a0 [1,1]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 9)
)


@pytest.mark.parametrize(
    "hostile",
    [
        b"[" * 1_000_000,
        b"{a: " * 100_000,
        b"- " * 100_000,
        b"? " * 100_000,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        _LAUGHS,
        b"&a [*a]",
        b"a: " + b"9" * 10_000,
        b"a: " + b":".join([b"59"] * 100_000),
        b"a: 0x" + b"f" * 100_000,
        b"when: 2026-99-99",
        b"!!python/object/apply:os.system [id]",
        b"\xff\xfe",
        b"a: b: c",
        b"x" * (untrusted_files.MAX_DOCUMENT_BYTES + 1),
    ],
)
def test_a_document_out_of_bounds_is_one_error(hostile: bytes) -> None:
    with pytest.raises(MalformedYamlError) as caught:
        load_yaml(hostile)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text", ["root:$6$hash:1:\nx: [", "key: hush: hush", "TOKEN=hush\n\0", "a: hush\n- b"]
)
def test_an_error_quotes_nothing_of_a_document_that_may_be_a_secret(text: str) -> None:
    with pytest.raises(MalformedYamlError) as caught:
        load_yaml(text.encode())
    assert "hush" not in str(caught.value)
    assert "hash" not in str(caught.value)


def test_nodes_have_their_lines_and_an_error_too() -> None:
    node = load_yaml_nodes(b"a:\n  b: 1\n")
    assert node is not None
    assert node.value[0][1].start_mark.line == 1
    assert build_yaml_value(node) == {"a": {"b": 1}}
    with pytest.raises(MalformedYamlError, match="at line 2") as caught:
        load_yaml_nodes(b"a: 1\nb: c: d\n")
    assert caught.value.line == 2


def test_a_regular_file_is_read_wherever_it_lies_and_nothing_else_is(folder: Path) -> None:
    (folder / "link").symlink_to("../secret")
    (folder / "zero").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    assert read_regular(folder / "link", 10) == b"SECRET"
    for name in ("zero", "pipe"):
        with pytest.raises(UnsafeFileError, match="not a regular file"):
            read_regular(folder / name, 10)


def test_a_file_lies_beneath_a_folder_when_its_links_are_followed(folder: Path) -> None:
    (folder / "link").symlink_to("../secret")
    assert is_beneath(folder, folder / "data" / "in.txt")
    assert not is_beneath(folder, folder / "link")
    assert not is_beneath(folder, Path("/etc/hostname"))


def test_a_chain_of_too_many_links_is_refused(folder: Path) -> None:
    (folder / "link0").symlink_to("data/in.txt")
    for number in range(1, 2000):
        (folder / f"link{number}").symlink_to(f"link{number - 1}")
    for read in (read_beneath, lambda root, name, most: read_regular(root / name, most)):
        with pytest.raises(UnsafeFileError, match="too many links"):
            read(folder, "link1999", 10)
    assert not is_beneath(folder, folder / "link1999")
