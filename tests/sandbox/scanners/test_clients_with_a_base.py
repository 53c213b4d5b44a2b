"""Clients with a base URL: the base is judged where it is given, what is relative to it stays there."""

from __future__ import annotations

import pytest

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_PIPELINE = Pipeline()
_CLIENT = "import httpx\nc = httpx.Client(base_url='{}')\n"
_ALLOWED_BASE = _CLIENT.format("https://api.github.com")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (_ALLOWED_BASE + "c.get('/repos/x'); c.get('repos/x'); c.get('user?a=b'); c.get('/')", Verdict.ALLOW),
        (_ALLOWED_BASE + "c.get(f'repos/{input()}')", Verdict.ALLOW),
        (_ALLOWED_BASE + "c.get(f'http{input()}')", Verdict.REVIEW),
        (_ALLOWED_BASE + "c.get('//evil.example/x')", Verdict.DENY),
        (_ALLOWED_BASE + "c.get('https://evil.example/x')", Verdict.DENY),
        (_CLIENT.format("https://evil.example") + "c.get('/x')", Verdict.DENY),
        ("import requests\nrequests.get('evil/x')", Verdict.DENY),
        ("import urllib3\nurllib3.PoolManager().request('GET', 'evil/x')", Verdict.DENY),
        ("import urllib3\nurllib3.ProxyManager('http://evil.example:3128')", Verdict.DENY),
        (
            (
                "import asyncio, aiohttp\nasync def main():\n"
                "    async with aiohttp.ClientSession('https://evil.example') as s:\n"
                "        await s.get('/x')\n"
                "asyncio.run(main())"
            ),
            Verdict.DENY,
        ),
    ],
)
def test_a_relative_url_is_judged_by_its_base(source: str, wanted: Verdict) -> None:
    scan = _PIPELINE.scan("python", source)

    assert scan.verdict is wanted, scan.findings
