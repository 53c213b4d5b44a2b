"""The image on the AGENT span: from the environment, from Podman's file, or none."""

from __future__ import annotations

import pytest

from spanproof.instrumentors.spans import environment
from spanproof.instrumentors.spans.environment import Image, get_image, parse_reference
from spanproof.semconv import spanproof as ours

DIGEST = "sha256:" + "9f86d081884c7d659a2feaa0c55ad015" * 2


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (f"registry:5000/agent:7@{DIGEST}", Image("registry:5000/agent:7", DIGEST)),
        (DIGEST, Image("", DIGEST)),
        ("registry/agent:7", Image("registry/agent:7", "")),
        ("agent@sha256:short", Image("agent@sha256:short", "")),
    ],
)
def test_a_reference_has_a_name_a_digest_or_both(reference, expected):
    assert parse_reference(reference) == expected


def test_our_variable_goes_before_the_platforms(tmp_path):
    given = {"FLY_IMAGE_REF": "fly/agent:1", "SPANPROOF_IMAGE": f"agent:7@{DIGEST}"}
    assert get_image(given, tmp_path / "none") == Image("agent:7", DIGEST)
    del given["SPANPROOF_IMAGE"]
    assert get_image(given, tmp_path / "none") == Image("fly/agent:1", "")


def test_podman_names_the_image_within_the_container(tmp_path):
    file = tmp_path / ".containerenv"
    file.write_text(f'engine="podman-5.2"\nid="ab"\nimage="localhost/agent:7"\nimageid="{DIGEST[7:]}"\n')
    assert get_image({}, file) == Image("localhost/agent:7", DIGEST)
    file.write_text("")
    assert get_image({}, file) == Image()


def test_the_outermost_span_has_the_image_where_it_is_known(monkeypatch):
    monkeypatch.setenv("SPANPROOF_IMAGE", f"agent:7@{DIGEST}")
    environment.read_image_facts.cache_clear()
    try:
        assert environment.read_image_facts() == {
            ours.ENVIRONMENT_IMAGE_NAME: "agent:7",
            ours.ENVIRONMENT_IMAGE_DIGEST: DIGEST,
        }
    finally:
        monkeypatch.undo()
        environment.read_image_facts.cache_clear()
    assert environment.read_image_facts() == {}
