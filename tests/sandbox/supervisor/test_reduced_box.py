"""The box of the reduced tier: what it holds, what it counts, and when it is full."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from spanproof.sandbox.supervisor.reduced.box import Directory, remove_entries
from spanproof.sandbox.supervisor.reduced.process_tree import Descendants


def test_a_box_is_emptied_however_deep_and_whatever_its_modes(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("stays")
    box = tmp_path / "box"
    box.mkdir()
    directory = os.open(box, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=directory)
        os.symlink(outside, "link", dir_fd=directory)
        deeper = os.open("d", os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = deeper
    os.close(directory)
    (box / "closed").mkdir()
    (box / "closed/file").write_text("x")
    (box / "closed").chmod(0)
    remove_entries(str(box))
    assert list(box.iterdir()) == []
    assert outside.read_text() == "stays"


def test_an_emptied_directory_stays_open_to_those_it_was_open_to(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "inner").mkdir(parents=True)
    (top / "inner/file").write_text("x")
    top.chmod(0o1777)  # another user's programs are to use it again, as in a container of gVisor's
    remove_entries(str(top))
    assert (top.stat().st_mode & 0o7777, list(top.iterdir())) == (0o1777, [])


class NoProcess(Descendants):
    """Not what descends from the tests, a Docker daemon maybe: a full box would keep it from writing."""

    def __init__(self) -> None:
        super().__init__(own_user=False)

    def list_pids(self) -> list[str]:
        return []


def test_a_box_counts_names_and_forgets_those_that_were_removed(tmp_path: Path) -> None:
    box = Directory(str(tmp_path), NoProcess())
    box.start_empty(1 << 20)
    assert not box.has_changed()
    assert all(box.takes_room_for_name() for _ in range(5000))  # none of them is there when they are counted
    for number in range(1100):
        (tmp_path / "work" / str(number)).touch()
    while box.takes_room_for_name():
        pass
    assert box.has_changed()
    box.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_box_in_which_the_first_files_take_all_room_gets_no_further_one(tmp_path: Path) -> None:
    box = Directory(str(tmp_path), NoProcess())
    box.start_empty(1 << 20)
    for number in range(3):  # before anybody has looked by the clock
        assert box.takes_room_for_name()
        (tmp_path / "work" / str(number)).write_bytes(bytes(400_000))
    assert not box.takes_room_for_name()


def test_a_box_whose_empty_manifest_a_program_has_changed_is_not_kept(tmp_path: Path) -> None:
    box = Directory(str(tmp_path), NoProcess())
    manifest = tmp_path / "package.json"

    def replace_by(make: Callable[[], object]) -> None:
        manifest.unlink()
        make()

    for change in (
        lambda: manifest.write_text('{"type": "module"}\n'),
        lambda: manifest.write_text("[]\n"),
        manifest.unlink,
        lambda: replace_by(manifest.mkdir),
        lambda: replace_by(lambda: os.mkfifo(manifest)),
        lambda: replace_by(lambda: manifest.symlink_to("work")),
    ):
        box.start_empty(1 << 20)
        assert not box.has_changed()
        change()
        assert box.has_changed()
        box.remove()


def test_a_box_over_its_bytes_ends_the_run(tmp_path: Path) -> None:
    box = Directory(str(tmp_path), NoProcess())
    box.start_empty(64 * 1024)
    assert box.find_exceeded_limit() is None
    (tmp_path / "work/large").write_bytes(b"x" * 256 * 1024)
    deadline = time.monotonic() + 120
    while (found := box.find_exceeded_limit()) is None:
        assert time.monotonic() < deadline
    assert found == "disk"
