"""Secrets: every format is found, what looks alike is not denied, no pattern takes more than linear time."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from spanproof.sandbox.scanners.context import clock
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.secret_formats import (
    FORMATS,
    Format,
    format_title,
    iter_secrets,
    to_python_pattern,
    without_secrets,
)

_PIPELINE = Pipeline()
_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_LANGUAGE_OF_PATH = {r"(?i)\.php$": "php", r"(?i)\.(?:tf|hcl)$": "tf"}
_NO_LANGUAGE = {"nuget-config-password"}
"""Rules for files of one name, which a snippet does not have."""


def _random_text(alphabet: str, size: int, chance: random.Random) -> str:
    return "".join(chance.choice(alphabet) for _ in range(size))


def _make(tree: Any, chance: random.Random) -> str:
    """A text that a parsed pattern matches, where no assertion looks at it."""
    parts: list[str] = []
    for code, value in tree:
        if code is codes.LITERAL:
            parts.append(chr(value))
        elif code is codes.ANY:
            parts.append(chance.choice(_LETTERS))
        elif code is codes.NOT_LITERAL:
            parts.append("a")
        elif code is codes.IN:
            parts.append(chance.choice(_members_of(tuple(value))))
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, inner = value
            count = chance.randint(least, min(int(most), least + 20))
            parts += [_make(inner, chance) for _ in range(count)]
        elif code is codes.SUBPATTERN:
            parts.append(_make(value[3], chance))
        elif code is codes.BRANCH:
            parts.append(_make(chance.choice(value[1]), chance))
        else:
            assert code in (codes.AT, codes.ASSERT, codes.ASSERT_NOT), code
    return "".join(parts)


@lru_cache
def _members_of(members: tuple[Any, ...]) -> list[str]:
    return [one for one in _LETTERS + "_-+/=.:~?& \n\t'\"%" if _is_in(members, one)]


def _is_in(members: tuple[Any, ...], character: str) -> bool:
    negated = members[0][0] is codes.NEGATE
    found = any(
        (code is codes.LITERAL and ord(character) == value)
        or (code is codes.RANGE and value[0] <= ord(character) <= value[1])
        or (code is codes.CATEGORY and re.match(_CATEGORIES[value], character, re.ASCII) is not None)
        for code, value in members
    )
    return found is not negated


_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_WORD: r"\w", codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _made_by(form: Format) -> Iterator[tuple[str, str]]:
    """Texts with a match of a format, and the match; a fixed number of them."""
    chance = random.Random(form.name)
    tree = _parser.parse(to_python_pattern(form.pattern), re.ASCII)
    for _ in range(60):
        match = _make(tree, chance)
        if re.search(to_python_pattern(form.pattern), f"\n{match}\n", re.ASCII):
            yield f"# {form.keywords[0]}\n{match}\n", match


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_format_finds_what_its_pattern_makes(form: Format) -> None:
    if form.name in _NO_LANGUAGE:
        return
    language = _LANGUAGE_OF_PATH[form.path] if form.path else "text"
    texts = [text for text, _ in _made_by(form)]
    found = [form in {one.form for one in iter_secrets(text, text.lower(), language)} for text in texts]

    assert texts, "no text was made"
    assert any(found), f"{form.name} found none of {len(found)}, for example {texts[0]!r}"


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_no_format_takes_more_than_linear_time(form: Format) -> None:
    chance = random.Random(form.name)
    whole = _make(_parser.parse(to_python_pattern(form.pattern), re.ASCII), chance)
    word = form.keywords[0]
    language = _LANGUAGE_OF_PATH.get(form.path, "text")
    for unit in (
        f"{word}=",
        f"{word} ",
        whole[: len(whole) // 2],
        whole[:-1],
        f"{word}{'a1' * 40}",
        f"{word}\n",
    ):
        text = (unit * 4_000)[:4_000]
        started = clock()
        sum(1 for _ in iter_secrets(text, text.lower(), language))
        # The slowest takes 0.003 s; one that grew with the square would take many seconds.
        assert clock() - started < 2, f"{form.name} is slow on {unit[:60]!r} again and again"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (r"\bab(?i)c(d|e)", r"\bab(?i:c(d|e))"),
        (r"(a(?i)b|c)d", r"(a(?i:b)|(?i:c))d"),
        (r"(?i)a|b", r"(?i:a)|(?i:b)"),
        (r"a$|b\z", r"a\Z|b\Z"),
        (r"[$|(]\$", r"[$|(]\$"),
        (r"[^]$]\[a", r"[^]$]\[a"),
        (r"pat[[:alnum:]]{14}", r"pat[0-9A-Za-z]{14}"),
        (r"(?-i:A)(?P<b>c)", r"(?-i:A)(?P<b>c)"),
    ],
)
def test_a_pattern_is_translated(given: str, wanted: str) -> None:
    assert to_python_pattern(given) == wanted


_LOOK_ALIKES: list[Callable[[random.Random], str]] = [
    lambda r: f"commit = '{_random_text(_HEX, 40, r)}'",
    lambda r: f'sha256 = "{_random_text(_HEX, 64, r)}"',
    lambda r: f"image: store.local/app@sha256:{_random_text(_HEX, 64, r)}",
    lambda r: f'"integrity": "sha512-{_random_text(_LETTERS + "+/", 86, r)}=="',
    lambda r: f"trace_id = '{_random_text(_HEX, 32, r)}'",
    lambda r: f"traceparent: 00-{_random_text(_HEX, 32, r)}-{_random_text(_HEX, 16, r)}-01",
    lambda r: f"request_id = '{_random_text(_HEX, 8, r)}-1234-4234-8234-{_random_text(_HEX, 12, r)}'",
    lambda r: f"icon = 'data:image/png;base64,{_random_text(_LETTERS + '+/', 120, r)}'",
    lambda r: f"-----BEGIN CERTIFICATE-----\n{_random_text(_LETTERS, 64, r)}\n-----END CERTIFICATE-----",
    lambda r: f"-----BEGIN PUBLIC KEY-----\n{_random_text(_LETTERS, 64, r)}\n-----END PUBLIC KEY-----",
    lambda r: f"cache_key = '{_random_text(_HEX, 32, r)}'",
    lambda r: f"okta_build = '{_random_text(_HEX, 40, r)}'",
    lambda r: f"heroku_build_id = '{_random_text(_HEX, 32, r)}'",
    lambda r: f"adobe_font_hash = '{_random_text(_HEX, 32, r)}'",
    lambda r: f"s3_key = 'daily/2024-06-01/part-{r.randint(10_000, 99_999)}.parquet'",
    lambda r: f"ssh-rsa AAAAB3NzaC1yc2E{_random_text(_LETTERS, 180, r)} me@host",
    lambda r: f"wallet 0x{_random_text(_HEX, 40, r)}",
    lambda r: f"order {r.randint(10**15, 10**16)}",
    lambda r: f".sk-fading-circle-{r.randint(1, 9)} .sk-child-element-of-container {{ width: 10% }}",
]
_PLAIN_LOOK_ALIKES = [
    "api_key = 'YOUR_API_KEY'", "OKTA_API_KEY=<your-okta-api-key>", "key = os.environ['DATADOG_API_KEY']",
    "token: ${{ secrets.DEPLOY_TOKEN }}", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7" + "EXAMPLE",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "token = response.json()['access_token']",
    "secret = secrets.token_hex(32)", "token_url = 'https://auth.example/oauth2/token'",
    "gh" + "p_" + "x" * 36, "sk-" + "x" * 48, "sk_test_" + "0" * 24,
    "regex = r'gh" + "p_[0-9a-zA-Z]{36}|AKIA[A-Z0-9]{16}'",
    "if text.startswith('-----BEGIN RSA PRIVATE KEY-----'): load(text)",
    "curl -u $USER:$PASSWORD https://x.example",
    "curl -H 'Authorization: Bearer $TOKEN' https://x.example", "primary_key = 'customer_order_id_2024'",
    "password: changeme", "max_tokens = 4096", "tokens = ['##ing', '[CLS]', '[SEP]']",
    "password = getpass.getpass('db: ')",
]  # fmt: skip


def _look_alikes() -> list[str]:
    chance = random.Random(11)
    return [make(chance) for _ in range(30) for make in _LOOK_ALIKES] + _PLAIN_LOOK_ALIKES


def test_what_looks_like_a_secret_is_hardly_ever_denied_or_reviewed() -> None:
    texts = _look_alikes()
    verdicts = [(_PIPELINE.scan("text", text).verdict, text) for text in texts]
    denied = [text for verdict, text in verdicts if verdict is Verdict.DENY]
    reviewed = [text for verdict, text in verdicts if verdict is Verdict.REVIEW]

    assert len(denied) <= 0.01 * len(texts), f"denied: {denied}"
    assert len(reviewed) <= 0.03 * len(texts), f"reviewed: {reviewed}"


@pytest.mark.parametrize(
    "name",
    ["DB_PASSWORD", "service_api_token", "client.secret", "SIGNING_KEY", "smtpPassword", "license-key"],
)
@pytest.mark.parametrize("form", ['{} = "{}"', "{}={}", "{}: {}", "--{}={}", '"{}": "{}",'])
def test_a_random_value_under_a_name_that_announces_a_secret_is_reviewed(name: str, form: str) -> None:
    value = "q8Zr2LmX0pWv7TnB5cR1yE4uHs6"

    assert _PIPELINE.scan("text", form.format(name, value)).verdict is Verdict.REVIEW


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("DATADOG_API_KEY = '{}'", Verdict.DENY),
        ("datadog = '{}'", Verdict.REVIEW),
        ("datadog_commit = '{}'", Verdict.ALLOW),
    ],
)
def test_a_providers_name_denies_where_the_identifier_calls_the_value_a_secret(
    text: str, verdict: Verdict
) -> None:
    value = _random_text(_HEX, 40, random.Random(2))

    assert _PIPELINE.scan("text", text.format(value)).verdict is verdict


def test_a_private_key_needs_a_body() -> None:
    head, body = "-----BEGIN RSA " + "PRIVATE KEY-----", _random_text(_LETTERS + "+/", 64, random.Random(5))

    assert _PIPELINE.scan("text", f"{head}\n{body}\n").verdict is Verdict.DENY
    assert _PIPELINE.scan("python", f'key = "{head}\\n{body}\\n"').verdict is Verdict.DENY
    assert _PIPELINE.scan("python", f"is_key = text.startswith('{head}')").verdict is Verdict.ALLOW


def test_a_secret_among_letters_that_grow_in_lower_case_is_found() -> None:
    secret = "gh" + "p_" + _random_text(_LETTERS, 36, random.Random(1))

    assert _PIPELINE.scan("text", "İ" * 500 + f" {secret}").verdict is Verdict.DENY


def test_secrets_are_masked_by_their_form_alone() -> None:
    secret = "gh" + "p_" + _random_text(_LETTERS, 36, random.Random(1))

    assert (
        without_secrets(f"a {secret} and {secret}.", lambda name: f"<{name}>")
        == "a <github-token> and <github-token>."
    )
    assert without_secrets("plain words", str) == "plain words"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("github-token", "GitHub token"),
        ("google-service-account", "Google service account"),
        ("new-relic-user-api-id", "New Relic user API ID"),
        ("stripe-style-live-key", "Stripe-style live key"),
        ("private-key", "private key"),
        ("1password-secret-key", "1Password secret key"),
    ],
)
def test_a_format_is_named_for_people(name: str, title: str) -> None:
    assert format_title(name) == title
