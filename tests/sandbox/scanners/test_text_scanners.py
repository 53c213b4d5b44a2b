from __future__ import annotations

import pytest

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.scanners import characters
from spanproof.sandbox.scanners.boundary import Boundary
from spanproof.sandbox.scanners.context import Context, clock
from spanproof.sandbox.scanners.model import Finding, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.report import Report
from spanproof.sandbox.scanners.secret_formats import FORMATS
from spanproof.sandbox.scanners.source import Source

_PIPELINE = Pipeline()


def _random_looking(size: int, alphabet: str = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7") -> str:
    return "".join(alphabet[(7 * n + n // 5) % len(alphabet)] for n in range(size))


# Made up by shape, from pieces, so that no scanner of a code host takes this file for a leak.
_SECRETS = {
    "aws-access-key": "AKIA" + "Q3EGRIVNWLTZ5MTX",
    "github-token": "gh" + "p_" + _random_looking(36),
    "gitlab-token": "gl" + "pat-" + _random_looking(20),
    "openai-key": "s" + "k-proj-" + _random_looking(40),
    "stripe-style-live-key": "s" + "k-live-" + _random_looking(10),
    "stripe-key": "s" + "k_live_" + _random_looking(24),
    "google-api-key": "AI" + "za" + _random_looking(35),
    "slack-token": "xo" + "xb-123456789012-" + _random_looking(24),
    "npm-token": "np" + "m_" + _random_looking(36),
    "hugging-face-token": "h" + "f_" + "".join(one for one in _random_looking(80) if one.isalpha())[:34],
    "databricks-token": "dap" + "i" + "0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d",
    "json-web-token": "ey"
    "J" + _random_looking(20) + ".ey" + "J" + _random_looking(30) + "." + _random_looking(20),
    "private-key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + _random_looking(64),
    "sendgrid-key": "S" + "G." + _random_looking(22) + "." + _random_looking(43),
    "vault-token": "hv" + "s." + _random_looking(30),
}


@pytest.mark.parametrize(("form", "secret"), _SECRETS.items(), ids=_SECRETS.keys())
def test_a_providers_secret_is_found_and_never_shown(form: str, secret: str) -> None:
    scan = _PIPELINE.scan("python", f"client = connect(\n    {secret!r},\n)")

    found = [finding for finding in scan.findings if finding.rule.startswith("secret.")]
    assert scan.verdict is Verdict.DENY
    assert any(form == finding.rule.removeprefix("secret.") or finding.line == 2 for finding in found)
    assert all(secret not in repr(finding) and secret[6:] not in repr(finding) for finding in scan.findings)


def test_every_format_has_keywords_its_pattern_needs() -> None:
    assert all(form.keywords and all(word == word.lower() for word in form.keywords) for form in FORMATS)
    assert len({form.name for form in FORMATS}) == len(FORMATS)


def test_a_name_that_says_secret_and_holds_a_random_literal_is_reviewed() -> None:
    scan = _PIPELINE.scan("python", f"DB_PASSWORD = '{_random_looking(24)}'")

    assert scan.verdict is Verdict.REVIEW
    assert "DB_PASSWORD" in scan.findings[0].message


@pytest.mark.parametrize(
    "text",
    [
        "api_key = 'YOUR_API_KEY'", "token = '<your token>'", "password = ''", "secret = '${SECRET}'",
        "id = '3f2b8c1e-7d4a-4e9b-8a6f-0c5d2e1b9a7f'", "sha = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'",
        "tokenizer = 'bert-base-uncased'", "key = 'customer_name'", "print('password:', len(password))",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_is_allowed(text: str) -> None:
    assert _PIPELINE.scan("python", text).verdict is Verdict.ALLOW


def _rules(language: str, text: str) -> list[str]:
    return [finding.rule for finding in _PIPELINE.scan(language, text).findings]


def test_urls_are_judged_by_their_parts() -> None:
    assert "url.userinfo" in _rules("text", "https://bob:hunter22@db.test/x")
    assert "url.punycode" in _rules("text", "https://xn--pple-43d.test/")
    assert "url.punycode" in _rules("text", "https://аpple.test/")
    assert "url.scheme" in _rules("text", "gopher://x.test/_")
    assert "url.raw-ip" in _rules("text", "http://203.0.113.9/x")
    assert "url.metadata" in _rules("text", "see 169.254.169.254/latest")
    assert _rules("text", "https://api.github.com/repos/a/b?x=1#y") == []
    assert _rules("text", "https://{user}:{password}@host.test/") == []


def test_characters_that_mislead_are_found_where_they_stand() -> None:
    found: Finding = _PIPELINE.scan("python", "x = 1\n# ab\u202ec").findings[0]

    assert (found.rule, found.line, found.column, found.verdict) == ("text.bidirectional", 2, 5, Verdict.DENY)
    assert "text.invisible" in _rules("python", "pass\u200bword = 1")
    assert "text.confusable" in _rules("python", "pаypal = 1")  # the first a is Cyrillic
    assert "text.confusable" in _rules("python", "ｏs = 1")
    assert "text.confusable" in _rules("python", "x = f'{ｏs}'")
    assert "text.confusable" in _rules("javascript", "x = `${ｏs}`")
    assert "text.control" in _rules("bash", "ls\x08")


def test_plain_text_of_any_language_is_allowed() -> None:
    for text in (
        "Grüße an Łódź und Ελλάδα",
        "naïve = 'Привет, мир'",
        "família 👩‍👩‍👧 日本語 한국어",
        "عدد = 1",
    ):
        assert _rules("python", f"# {text}") == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "from urllib.parse import urlparse\nprint(urlparse('http://169.254.169.254/latest').netloc)"),
        ("python", "BLOCKED = {'169.254.169.254', 'metadata.google.internal'}\nprint('10.0.0.1' in BLOCKED)"),
        ("python", "import ipaddress\nprint(ipaddress.ip_address('169.254.169.254').is_link_local)"),
        ("python", "def is_odd(url):\n    return url.startswith(('gopher://', 'ldap://'))"),
        ("python", "print('<a href=\"javascript:void(0)\">')"),
        ("bash", "grep 169.254.169.254 access.log"),
        ("sql", "SELECT * FROM hits WHERE host = '169.254.169.254'"),
        ("yaml", "blocked: [169.254.169.254]"),
        ("text", "Requests to 169.254.169.254 are blocked."),
        ("javascript", "if (new URL('http://169.254.169.254/').hostname === host) throw new Error('no')"),
        ("python", "name = 'ＡＢＣ商事'  # ＡＢＣ"),
        ("javascript", "const name = 'ＡＢＣ' // ＡＢＣ"),
        ("bash", "echo 'ＡＢＣ'"),
        ("sql", "SELECT 'ＡＢＣ' -- ＡＢＣ"),
        ("css", ".sk-chase-dot-Xy12AbcdefghijKLmn { animation: a 1s }"),
        ("javascript", "require('fs').readFileSync(require('path').join(process.cwd(), 'data', 'a.csv'))"),
        ("javascript", "const fs = require('fs'), d = fs.mkdtempSync('a-'); fs.writeFileSync(d + '/x', 'y')"),
    ],
)  # fmt: skip
def test_what_reaches_nothing_is_allowed(language: str, text: str) -> None:
    assert _PIPELINE.scan(language, text).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "import requests\nrequests.get('http://169.254.169.254/latest')"),
        ("python", "import acme\nacme.Client('http://169.254.169.254/latest')"),
        ("python", "import acme\nacme.Client(host='169.254.169.254')"),
        ("python", "client.load('gopher://x.test/_')"),
        ("bash", "curl http://169.254.169.254/latest"),
        ("javascript", "fetch('http://169.254.169.254/')"),
        ("javascript", "require('acme').load('http://169.254.169.254/')"),
        ("javascript", "require('fs').readFileSync(require('path').join(process.cwd(), '../../etc/shadow'))"),
    ],
)
def test_what_may_reach_it_is_not(language: str, text: str) -> None:
    assert _PIPELINE.scan(language, text).verdict is not Verdict.ALLOW


@pytest.mark.parametrize("language", ["python", "bash", "sql", "javascript"])
@pytest.mark.parametrize("unit", ["/*", "'\\'", '"\\"', '"""', "'''", "`", "'", "-- ", "#'", "{'"])
def test_names_outside_strings_are_found_in_linear_time(language: str, unit: str) -> None:
    started = clock()
    characters.scan(
        Context(Boundary(Policy()), Report(), clock() + 60), Source(language, "é " + unit * 50_000)
    )

    # 0.03 s; an end that is looked for again and again would take minutes.
    assert clock() - started < 5
