"""Images on spans: found in every convention, known by their content, bounded, and never judged."""

from __future__ import annotations

import base64
import json

import pytest

from spanproof.trace import Span, SpanKind
from spanproof.trace.images import MOST_BYTES, MOST_IMAGES, find_image, list_images

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
JPEG, GIF = b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"\0" * 40, b"GIF89a" + b"\1" * 40
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L" + b"\2" * 40


def encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


def to_url(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{encode(content)}"


def build_span(number: int = 1, **attributes) -> Span:
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    return Span("a" * 32, f"{number:016x}", None, "call", SpanKind.LLM, 0, 1, attributes=named)


OPENAI = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": to_url(PNG)}}]}
ANTHROPIC = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": encode(JPEG)}}
GENAI = {"type": "blob", "modality": "image", "mime_type": "image/webp", "content": encode(WEBP)}
GEMINI = {"inline_data": {"mime_type": "image/gif", "data": encode(GIF)}}
BEDROCK = {"image": {"format": "png", "source": {"bytes": encode(PNG)}}}


@pytest.mark.parametrize(
    ("value", "media_type", "content"),
    [
        (to_url(PNG), "image/png", PNG),  # OpenInference: message_content.image.image.url
        (json.dumps([OPENAI]), "image/png", PNG),
        (json.dumps({"content": [ANTHROPIC]}), "image/jpeg", JPEG),
        (
            json.dumps([{"role": "user", "parts": [{"type": "text", "content": "see"}, GENAI]}]),
            "image/webp",
            WEBP,
        ),
        (json.dumps({"contents": [{"parts": [GEMINI]}]}), "image/gif", GIF),
        ([{"parts": [BEDROCK]}], "image/png", PNG),  # structured attributes
        (json.dumps({"body": json.dumps({"messages": [OPENAI]})}), "image/png", PNG),
        (GIF, "image/gif", GIF),
        (to_url(JPEG, "image/png"), "image/jpeg", JPEG),  # the content decides
    ],
)
def test_an_image_is_found_in_every_convention(value, media_type, content):
    (image,) = list_images([build_span(gen_ai__input__messages=value)])
    assert (image.media_type, image.content) == (media_type, content)
    assert (image.span_id, image.attribute) == (f"{1:016x}", "gen_ai.input.messages")


@pytest.mark.parametrize(
    "value",
    [
        "data:image/svg+xml;base64," + encode(b"<svg onload='alert(1)'/>"),
        "data:text/html;base64," + encode(PNG[:4] + b"<script>"),
        to_url(PNG)[:-9],  # cut by a limit on attributes
        encode(b"RIFF\0\0\0\0WAVE" + b"\0" * 30),
        "the file /9j/ is not there",
        '{"url": "https://example.com/iVBORw0KGg.png"}',
        "[" * 100_000 + "iVBORw0KGg",
        to_url(PNG + b"\0" * MOST_BYTES),
        7,
        None,
    ],
)
def test_what_is_no_whole_image_of_an_allowed_format_is_left_out(value):
    assert list_images([build_span(input__value=value)]) == ()


def test_a_repeated_image_is_one_and_their_number_is_bounded():
    spans = [build_span(number, input__value=to_url(PNG)) for number in range(1, 4)]
    (image,) = list_images(spans)
    assert image.span_id == spans[0].span_id
    assert find_image(spans, image.id) == image
    assert find_image(spans, "0" * 32) is None
    many = [
        build_span(number, input__value=to_url(GIF + bytes([number]))) for number in range(2 * MOST_IMAGES)
    ]
    assert len(list_images(many)) == MOST_IMAGES
