"""Images that spans hold: data URLs and base64 in messages, inputs and outputs, whatever the convention.

In: spans as received. Out: images for a page to show. None is judged. An image stays where it came, in the
attributes of its span: deletion, retention, redaction and backups need to know of no second copy.

OpenInference has data URLs (`message_content.image.image.url`), OTel GenAI `blob` parts, providers their own
blocks. All hold base64 whose first characters are the signature of a format, so those are what is looked for.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

from spanproof.trace.model import AttributeValue, Span

MOST_IMAGES: Final = 40
"""Of a trace: what a page shows at once."""
MOST_BYTES: Final = 5 * 2**20
"""Of one image: what the providers of models take in a message (Anthropic: 5 MB; OpenAI: 20 MB a request)."""

MediaType: TypeAlias = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
MEDIA_TYPES: Final[tuple[MediaType, ...]] = get_args(MediaType)
"""What an image may be; anything else is not shown."""

# The signature at the start of the bytes, by media type. SVG is none: it is a document that may run scripts.
_SIGNATURES: Final[Mapping[MediaType, bytes]] = MappingProxyType(
    {
        "image/png": b"\x89PNG\r\n\x1a\n",
        "image/jpeg": b"\xff\xd8\xff",
        "image/gif": b"GIF8",
        "image/webp": b"RIFF",
    }
)
_WEBP_MARK, _WEBP_MARK_AT = b"WEBP", 8
# The same signatures in base64, without the last characters, which hold bits of what follows.
_BASE64_STARTS: Final = ("iVBORw0KGg", "/9j/", "R0lGOD", "UklGR")
# Base64 of an image of that size, with room for what a document holds beside it.
_LONGEST_TEXT: Final = 16 * MOST_BYTES
# JSON within JSON: a body that a client recorded as text, in an attribute that is JSON.
_DEEPEST_DOCUMENT: Final = 3


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a span.

    Attributes:
        id: of the content, so that an image that a conversation repeats is one.
        attribute: name of the span's attribute that holds it.
        media_type: by the signature of the content, not by what the span says.
    """

    id: str
    span_id: str
    attribute: str
    media_type: MediaType
    content: bytes


def list_images(spans: Iterable[Span]) -> tuple[Image, ...]:
    """Return the images of spans in their order, each content once, at most `MOST_IMAGES`."""
    found: dict[str, Image] = {}
    for span in spans:
        for name, value in span.attributes.items():
            for media_type, content in _iter_contents(value):
                identity = sha256(content).hexdigest()[:32]
                found.setdefault(identity, Image(identity, span.span_id, name, media_type, content))
                if len(found) == MOST_IMAGES:
                    return tuple(found.values())
    return tuple(found.values())


def find_image(spans: Iterable[Span], identity: str) -> Image | None:
    """Return the image with this id."""
    return next((image for image in list_images(spans) if image.id == identity), None)


def _iter_contents(value: AttributeValue) -> Iterator[tuple[MediaType, bytes]]:
    """Yield media type and content of each image in a value, and in JSON documents that it holds as text."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, Mapping):
            waiting += [(entry, depth) for entry in reversed(list(item.values()))]
        elif isinstance(item, list | tuple):
            waiting += [(entry, depth) for entry in reversed(item)]
        elif isinstance(item, bytes):
            yield from _iter_typed_images(item)
        elif isinstance(item, str) and any(start in item for start in _BASE64_STARTS):
            content = _find_image_bytes(item)
            if content is not None:
                yield from _iter_typed_images(content)
            elif depth < _DEEPEST_DOCUMENT and item.lstrip()[:1] in ("{", "["):
                waiting.append((_parse_json(item), depth + 1))


def _find_image_bytes(text: str) -> bytes | None:
    """Return the bytes of a data URL, or of base64 that begins as an image does."""
    head, comma, data = text.partition(",")
    if comma and head.startswith("data:image/") and head.endswith(";base64"):
        encoded = data
    else:
        encoded = text
    if not encoded.startswith(_BASE64_STARTS):
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None  # cut by the producer: part of an image is none


def _iter_typed_images(content: bytes) -> Iterator[tuple[MediaType, bytes]]:
    if len(content) > MOST_BYTES:
        return
    for media_type, signature in _SIGNATURES.items():
        is_of_format = content.startswith(signature)
        if media_type == "image/webp":
            is_of_format = is_of_format and content.startswith(_WEBP_MARK, _WEBP_MARK_AT)
        if is_of_format:
            yield media_type, content
            return


def _parse_json(text: str) -> object:
    if len(text) > _LONGEST_TEXT:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
