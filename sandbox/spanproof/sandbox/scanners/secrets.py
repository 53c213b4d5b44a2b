"""Secrets in any text: providers' own formats, secret-named identifiers holding a literal, entropy last.

In: a source. Out: findings with rule and place. The value itself goes nowhere: not into a message, a log or a
store. Each rule has keywords that must occur before its pattern is tried, and every quantifier is bounded, so
that the time is linear.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.source import Source


class Format(NamedTuple):
    """One provider's format of secrets."""

    name: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]


def _format(name: str, keywords: str, pattern: str) -> Format:
    return Format(name, tuple(keywords.split()), re.compile(pattern))


FORMATS: Final = (
    _format(
        "aws-access-key", "akia asia abia acca a3t", r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"
    ),
    _format("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[0-9A-Za-z]{36,251}\b"),
    _format("github-fine-grained", "github_pat_", r"\bgithub_pat_\w{50,100}\b"),
    _format("gitlab-token", "glpat- gldt- glrt-", r"\bgl(?:pat|dt|rt|ptt|soat|cbt)-[0-9A-Za-z_-]{20,60}"),
    # The more particular formats of `sk-` first: the first that matches names the secret.
    _format("anthropic-key", "sk-ant-", r"\bsk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{20,120}"),
    _format("stripe-key", "sk_ rk_ pk_live", r"\b(?:[sr]k_(?:live|test|prod)|pk_live)_[0-9A-Za-z]{10,99}\b"),
    _format("stripe-style-live-key", "sk-live- sk_live_", r"\bsk[-_]live[-_][A-Za-z0-9]{8,64}"),
    _format("openai-key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,200}"),
    _format("stripe-webhook", "whsec_", r"\bwhsec_[A-Za-z0-9+/=]{24,80}"),
    _format("google-api-key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}"),
    _format(
        "google-oauth", "ya29. gocspx-", r"\b(?:ya29\.[0-9A-Za-z_-]{20,300}|GOCSPX-[0-9A-Za-z_-]{20,40})"
    ),
    _format(
        "slack-token", "xox xapp-", r"\b(?:xox[abeoprs]-[0-9A-Za-z-]{10,250}|xapp-\d-[0-9A-Za-z-]{20,200})"
    ),
    _format(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,80}",
    ),
    _format("discord-webhook", "discord", r"discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w-]{50,90}"),
    _format("discord-token", "discord", r"\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}\b"),
    _format("telegram-token", ":aa", r"\b\d{8,10}:AA[0-9A-Za-z_-]{33}\b"),
    _format("twilio-key", "sk", r"\bSK[0-9a-f]{32}\b"),
    _format("sendgrid-key", "sg.", r"\bSG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _format("mailgun-key", "key-", r"\bkey-[0-9a-f]{32}\b"),
    _format("mailchimp-key", "-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    _format("npm-token", "npm_", r"\bnpm_[0-9A-Za-z]{36}\b"),
    _format("pypi-token", "pypi-ageichlwas5vcmc", r"\bpypi-AgEIcHlwaS5vcmc[\w-]{50,1000}"),
    _format("hugging-face-token", "hf_ api_org_", r"\b(?:hf_[A-Za-z]{34}|api_org_[A-Za-z]{34})\b"),
    _format("databricks-token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    _format("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    _format("doppler-token", "dp.pt.", r"\bdp\.pt\.[0-9A-Za-z]{43}\b"),
    _format("shopify-token", "shpat_ shpss_ shpca_ shppa_", r"\bshp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}\b"),
    _format("square-token", "eaaa sq0", r"\b(?:EAAA[\w-]{56,64}|sq0(?:atp|csp|idp)-[\w-]{22,60})"),
    _format("linear-key", "lin_api_", r"\blin_api_[0-9A-Za-z]{40}\b"),
    _format("notion-token", "ntn_ secret_", r"\b(?:ntn_[0-9A-Za-z]{40,50}|secret_[0-9A-Za-z]{43})\b"),
    _format("postman-key", "pmak-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    _format("grafana-token", "glsa_ glc_ eyjrijoi", r"\b(?:glsa_\w{32}_[0-9A-Fa-f]{8}|glc_[\w+/=]{32,400})"),
    _format("new-relic-key", "nrak- nrii- nrjs-", r"\bNR(?:AK|II|JS)-[0-9A-Za-z]{19,40}\b"),
    _format("sentry-token", "sntrys_ sntryu_", r"\bsntry[su]_[\w+/=]{40,300}"),
    _format("vault-token", "hvs. hvb.", r"\bhv[sb]\.[\w-]{24,300}"),
    _format("terraform-token", "atlasv1", r"\b[0-9A-Za-z]{14}\.atlasv1\.[\w=-]{60,70}"),
    _format("age-key", "age-secret-key-1", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
    _format("atlassian-token", "atatt3", r"\bATATT3[\w=-]{180,200}"),
    _format("figma-token", "figd_", r"\bfigd_[\w-]{38,50}"),
    _format("groq-key", "gsk_", r"\bgsk_[0-9A-Za-z]{50,60}\b"),
    _format("perplexity-key", "pplx-", r"\bpplx-[0-9A-Za-z]{46,60}\b"),
    _format("replicate-token", "r8_", r"\br8_[0-9A-Za-z]{37}\b"),
    _format("azure-storage-key", "accountkey=", r"(?i:AccountKey)=[A-Za-z0-9+/]{86}=="),
    _format(
        "json-web-token",
        "eyj",
        r"\beyJ[A-Za-z0-9_-]{14,2000}\.eyJ[A-Za-z0-9_-]{14,4000}\.[A-Za-z0-9_-]{10,1000}",
    ),
    _format("fly-token", "fo1_ fm2_", r"\b(?:fo1_[\w-]{43}|fm2_[A-Za-z0-9+/=]{100,500})"),
    _format("airtable-token", "pat", r"\bpat[0-9A-Za-z]{14}\.[0-9a-f]{64}\b"),
    _format("pulumi-token", "pul-", r"\bpul-[0-9a-f]{40}\b"),
    _format("docker-token", "dckr_pat_", r"\bdckr_pat_[\w-]{27}"),
    _format("dynatrace-token", "dt0c01.", r"\bdt0c01\.[0-9A-Z]{24}\.[0-9A-Z]{64}\b"),
    _format(
        "private-key",
        "private key",
        r"-----BEGIN (?:[A-Z]{2,10} )?(?:ENCRYPTED )?PRIVATE KEY(?: BLOCK)?-----",
    ),
)
"""Formats providers give their secrets, by prefix or shape."""

_KEYWORDS: Final = tuple((word, form) for form in FORMATS for word in form.keywords)


def formats_in(lowered: str) -> list[Format]:
    """The formats that may occur in a text given in lower case, by their keywords."""
    # One plain search a keyword: the quickest there is in Python for this many short words.
    return list(dict.fromkeys([form for word, form in _KEYWORDS if word in lowered]))


_ASSIGNED = re.compile(
    # The possessive quantifier keeps a long run of such names linear.
    r"(?i)(?:secret|token|passw(?:or)?d|passwd|pwd|api[_-]?key|apikey|access[_-]?key|auth[_-]?key|private[_-]?key"
    r"|client[_-]?secret|credential)[a-z0-9_]{0,20}+"
    r"[\"'\]]{0,2}\s{0,4}(?:=|:|=>)\s{0,4}[rbuf]{0,2}[\"'](?P<value>[^\"'\s\\]{8,200})[\"']"
)
_ASSIGNED_WORDS: Final = ("secret", "token", "passw", "pwd", "key", "credential")

_PLACEHOLDER = re.compile(
    r"(?i)^(?:x+|\*+|\.+|<.*>|\$?\{.*\}|%.*%|.*(?:your|example|sample|dummy|placeholder|change_?me|insert|replace"
    r"|redacted|fake|test|here|todo|none|null|undefined|foobar|xxxx|1234|abcd).*)$"
)
_LITERAL = re.compile(r"""["']([A-Za-z0-9+/=_\-]{32,128})["']""")
_HEX_OR_ID = re.compile(r"^(?:[0-9a-fA-F-]+|[0-9]+|[a-z_\-/]+|[A-Z_\-/]+|[A-Za-z_\-/]+)$")


_SPELLED: Final = {
    "aws": "AWS", "github": "GitHub", "gitlab": "GitLab", "openai": "OpenAI", "api": "API", "npm": "npm",
    "oauth": "OAuth", "pypi": "PyPI", "json": "JSON", "sendgrid": "SendGrid", "digitalocean": "DigitalOcean",
    "stripe-style": "Stripe-style", "new-relic": "New Relic", "hugging-face": "Hugging Face",
    "fine-grained": "fine-grained token",
}  # fmt: skip
_KINDS: Final = frozenset({"key", "token", "webhook", "access", "storage", "live", "web"})


def title_of(name: str) -> str:
    """A format's name as a person says it: `github-token` is a GitHub token."""
    if name == "private-key":
        return "private key"
    for phrase in ("stripe-style", "new-relic", "hugging-face", "fine-grained"):
        name = name.replace(phrase, phrase.replace("-", "\0"))
    shown = []
    for word in name.split("-"):
        word = word.replace("\0", "-")
        shown.append(_SPELLED.get(word) or (word if word in _KINDS else word.capitalize()))
    return " ".join(shown)


def scan(context: Context, source: Source) -> None:
    """Report secrets, by rule and place only."""
    text = source.text
    lowered = source.lowered
    told: list[tuple[int, int]] = []
    for form in formats_in(lowered):
        context.check_time()
        for found in form.pattern.finditer(text):
            if _PLACEHOLDER.match(found[0][8:]) and form.name != "private-key":
                continue
            if not _claims(told, found.span()):
                continue
            place = source.place(*found.span())
            context.add_secret(
                f"secret.{form.name}", place, f"holds a secret: {title_of(form.name)}", found[0]
            )
    if [word for word in _ASSIGNED_WORDS if word in lowered]:
        _scan_assigned(context, source, told)
    if len(text) < 200_000:
        _scan_entropy(context, source, told)


def _scan_assigned(context: Context, source: Source, told: list[tuple[int, int]]) -> None:
    for found in _ASSIGNED.finditer(source.text):
        value = found["value"]
        if _PLACEHOLDER.match(value) or not _claims(told, found.span("value")):
            continue
        real = len(value) >= 16 and entropy(value) >= 3.3 and any(one.isdigit() for one in value)
        context.add_secret(
            "secret.assigned",
            source.place(*found.span("value")),
            f"a name that says secret ({_name(source.text, found)}) holds a literal",
            value,
            Verdict.REVIEW if real else None,
        )


def _name(text: str, found: re.Match[str]) -> str:
    """The whole identifier a match is the end of."""
    start = found.start()
    while (
        start > 0 and found.start() - start < 40 and (text[start - 1].isalnum() or text[start - 1] in "_.-")
    ):
        start -= 1
    return re.split(r"[\"'\]\s=:]", text[start : found.start("value")], maxsplit=1)[0]


def _scan_entropy(context: Context, source: Source, told: list[tuple[int, int]]) -> None:
    for found in _LITERAL.finditer(source.text):
        value = found[1]
        if _HEX_OR_ID.match(value) or entropy(value) < 4.5 or not _claims(told, found.span(1)):
            continue
        place = source.place(*found.span(1))
        context.add_secret("secret.entropy", place, "a literal is as random as a secret", value)


def entropy(text: str) -> float:
    """Shannon entropy of the characters, in bits each."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values()) if size else 0.0


def _claims(told: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    """Take a stretch for a secret, unless it overlaps one taken before; `told` is kept in order."""
    at = bisect_left(told, (span[1], 0))
    if at and told[at - 1][1] > span[0]:
        return False
    told.insert(at, span)
    return True
