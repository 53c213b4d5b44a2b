"""Personal data in any text: cards, bank accounts, social security numbers, e-mail addresses, phone numbers.

In: a source. Out: advisory findings with rule and place; of the value only the keyed fingerprint is kept.
What has a check digit is held to it. Phone numbers need the library `phonenumbers` (the extra `phones`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Final

from spanproof.sandbox.scanners.catalogue import read_sections
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.secret_formats import iter_offsets
from spanproof.sandbox.scanners.source import Source

_KNOWLEDGE: Final = read_sections("personal")
_NAMES: Final = _KNOWLEDGE["names"]
_CARD: Final = re.compile(r"(?<![\w.+-])[2-6](?:[ -]?[0-9]){12,18}(?![\w-]|\.[0-9])")
_BRANDS: Final = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|(?:5[1-5]|2[2-7])[0-9]{14}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    r"|(?:6011|65[0-9]{2}|64[4-9][0-9])[0-9]{12}|35[0-9]{14}|62[0-9]{14,17}"
)
_ACCOUNT: Final = re.compile(r"(?<![\w-])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w-])")
# Characters of a bank account number, by country.
_LENGTHS: Final = {one[:2]: int(one[2:]) for one in _KNOWLEDGE["accounts"]["lengths"].split()}

_SOCIAL: Final = re.compile(
    r"(?<![\w.-])(?!000|666|9|078-05-1120|219-09-9999)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-]|\.[0-9])"
)
_LOCAL_PART: Final = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}$", re.ASCII)
_DOMAIN: Final = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,4}[A-Za-z]{2,18}(?![\w(@-])", re.ASCII)
_NO_PERSON: Final = re.compile(
    r"(?i)(?:^|[.@])(?:example\.(?:com|net|org)|example|test|invalid|localhost|local|internal)$"
    r"|[.@]no-?reply\."
    r"|^(?:no-?reply|git|info|support|admin|root|user|name|email|you|foo|test)@"
)
# The user and the password before the host of a URL.
_LOGIN: Final = re.compile(r"://[^\s/@]*+\Z")

_PHONE: Final = re.compile(r"(?<![\w+])(?!\+[0-9]{1,3}\.[0-9]++(?![ .(-]))\+[1-9][0-9 ().-]{7,24}[0-9]")


# What every number of a card and every social security number has, and every number of an account.
_DIGITS: Final = re.compile(r"[0-9](?:[ -]?[0-9]){8}")
_ACCOUNT_HEAD: Final = re.compile(r"[A-Z]{2}[0-9]{2}")


def scan(context: Context, source: Source) -> None:
    """Report personal data, by rule and place only."""
    text = source.text
    for rule, found in _iter_personal(text):
        context.check_time()
        start, end = found
        context.add_secret(
            f"personal.{rule}", source.place(start, end), f"holds {_NAMES[rule]}", text[start:end]
        )


def _iter_personal(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    has_digits = _DIGITS.search(text) is not None
    for found in _CARD.finditer(text) if has_digits else ():
        digits = re.sub("[ -]", "", found[0])
        if _BRANDS.fullmatch(digits) and _has_check_digit(digits) and len(set(digits)) > 2:
            yield "card", found.span()
    for found in _ACCOUNT.finditer(text) if _ACCOUNT_HEAD.search(text) else ():
        number = found[0].replace(" ", "")
        if _LENGTHS.get(number[:2]) == len(number) and _compute_remainder(number) == 1:
            yield "bank-account", found.span()
    for found in _SOCIAL.finditer(text) if has_digits else ():
        yield "social-security", found.span()
    for at in iter_offsets(text, "@"):
        local, domain = _LOCAL_PART.search(text, max(at - 64, 0), at), _DOMAIN.match(text, at + 1)
        if local is None or domain is None or _LOGIN.search(text, max(at - 64, 0), at):
            continue
        if not _NO_PERSON.search(f"{local[0]}@{domain[0]}"):
            yield "email", (local.start(), domain.end())
    for found in _PHONE.finditer(text) if "+" in text else ():
        library = _load_phonenumbers()
        if library is not None and _is_phone(library, found[0]):
            yield "phone", found.span()


def _has_check_digit(digits: str) -> bool:
    """Whether Luhn's sum of a card's number is right."""
    doubled = [sum(divmod(2 * int(one), 10)) for one in digits[-2::-2]]
    return (sum(doubled) + sum(int(one) for one in digits[-1::-2])) % 10 == 0


def _compute_remainder(number: str) -> int:
    """Return a bank account's number modulo 97, which is 1 for a right one."""
    return int("".join(str(int(one, 36)) for one in number[4:] + number[:4])) % 97


@cache
def _load_phonenumbers() -> ModuleType | None:
    try:
        import phonenumbers
    except ImportError:
        return None
    module: ModuleType = phonenumbers
    return module


def _is_phone(library: ModuleType, text: str) -> bool:
    try:
        return bool(library.is_valid_number(library.parse(text, None)))
    except library.NumberParseException:
        return False
