from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners.boundary import Action, Boundary, Pieces

_BOUNDARY = Boundary(Policy())


def _rule(action: Action, pieces: Pieces, *, names: bool = False) -> str | None:
    crossing = _BOUNDARY.evaluate_path(action, pieces, holes_are_names=names)
    return crossing.rule if crossing is not None else None


@pytest.mark.parametrize(
    "path", ["a.csv", "./a", "data/../a", "/work/a", "/tmp/x/y", "/work", "/dev/null", "", "a b/c"]
)
def test_inside_is_inside(path: str) -> None:
    assert _rule(Action.READ, (path,)) is None


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x",
        "/work/../etc",
        "/tmp/../x",
        "/workshop",
        "/tmpx",
        "~",
        "~/a",
        "~root/x",
        "//etc/passwd",
        "/",
    ],
)
def test_outside_is_outside(path: str) -> None:
    assert _rule(Action.READ, (path,)) == "file.read-outside"
    assert _rule(Action.WRITE, (path,)) == "file.write-outside"


@pytest.mark.parametrize(
    ("pieces", "names", "rule"),
    [
        ((None,), False, "file.dynamic"),
        ((None,), True, None),
        (("data/", None), False, None),
        (("data/", None, "/../../../etc"), False, "file.dynamic"),
        (("/etc/", None), False, "file.read-outside"),
        (("/etc/", None), True, "file.read-outside"),
        (("/", None), False, "file.dynamic"),
        (("/tmp/", None, ".csv"), False, None),
        (("../", None), False, "file.dynamic"),
        (("../../etc/", None), False, "file.read-outside"),
        (("./", None), False, "file.dynamic"),
    ],
)  # fmt: skip
def test_a_path_known_in_part_is_judged_by_what_is_known(
    pieces: Pieces, names: bool, rule: str | None
) -> None:
    assert _rule(Action.READ, pieces, names=names) == rule


def test_the_roots_themselves_are_not_deleted() -> None:
    assert _rule(Action.DELETE, (".",)) == "file.delete-root"
    assert _rule(Action.DELETE, ("/tmp",)) == "file.delete-root"
    assert _rule(Action.DELETE, ("data",)) is None


@given(st.lists(st.sampled_from(["a", "..", ".", "etc", "work", "tmp", "", "~"]), max_size=8), st.booleans())
def test_a_path_is_inside_exactly_when_its_normal_form_is(parts: list[str], absolute: bool) -> None:
    path = ("/" if absolute else "") + "/".join(parts)
    normal = "/" + posixpath.normpath(posixpath.join("/work", path)).lstrip("/")
    inside = not path.startswith("~") and (
        normal in {"/work", "/tmp"} or normal.startswith(("/work/", "/tmp/"))
    )

    assert (_rule(Action.READ, (path,)) is None) is inside


@pytest.mark.parametrize(
    ("host", "rule"),
    [
        ("api.github.com", None), ("API.GitHub.com.", None), ("en.wikipedia.org", None), ("evil.test",
        "network.host"),
        ("wikipedia.org.evil.test", "network.host"), ("xwikipedia.org", "network.host"), ("localhost",
        "network.host"),
        ("127.0.0.1", "network.host"), ("169.254.169.254", "network.metadata"), ("2852039166",
        "network.metadata"),
        ("0xa9fea9fe", "network.metadata"), ("0251.0376.0251.0376", "network.metadata"),
        ("[fd00:ec2::254]", "network.metadata"),
        ("", "network.host"),
    ],
)  # fmt: skip
def test_a_host_is_judged_by_its_plain_form(host: str, rule: str | None) -> None:
    crossing = _BOUNDARY.evaluate_host(host)

    assert (crossing.rule if crossing is not None else None) == rule
