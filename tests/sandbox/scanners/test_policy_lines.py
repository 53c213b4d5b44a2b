"""A finding names the one line of a policy that would allow it, and with that line it is gone."""

from __future__ import annotations

import re

import pytest
import yaml

from spanproof.sandbox.policy import Policy
from spanproof.sandbox.policy_file import parse_policy
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

CASES = [
    ("python", "open('/srv/orders.csv').read()"),
    ("python", "open('/var/out/report.txt', 'w').write('x')"),
    ("python", "import requests\nrequests.get('https://api.shop.dev/orders')"),
    ("python", "import requests\nrequests.get('https://api.github.com:8443/x')"),
    ("python", "import os\nprint(os.environ['SHOP_REGION'])"),
    ("python", "import psutil\nprint(psutil.cpu_percent())"),
    ("python", "import shopkit\nshopkit.fetch('https://shop.dev/x')"),
    ("python", "import os\nos.fork()"),
    ("python", "import http.server as h\nh.HTTPServer(('127.0.0.1', 0), h.BaseHTTPRequestHandler)"),
    ("javascript", "console.log(process.env.SHOP_REGION)"),
    ("bash", "cat /srv/orders.csv"),
    ("bash", "shopctl sync orders"),
    ("bash", "docker ps"),
    ("sql", "UPDATE orders SET total = 3 WHERE id = 1"),
]


@pytest.mark.parametrize(("language", "code"), CASES)
def test_the_line_that_a_finding_names_allows_it(language: str, code: str) -> None:
    findings = [
        finding
        for finding in Pipeline(Policy()).scan(language, code).findings
        if finding.verdict is not Verdict.ALLOW
    ]
    assert findings
    lines = [re.search(r"In the policy: `(.*)`$", finding.remedy) for finding in findings]
    assert all(lines), [finding.remedy for finding in findings]
    policy = Policy()
    for line in lines:
        assert line is not None
        policy = parse_policy(yaml.safe_load(line[1]), "test")
    if len(lines) == 1:
        assert Pipeline(policy).scan(language, code).verdict is Verdict.ALLOW


def test_a_secret_in_a_line_is_not_shown() -> None:
    secret = "gh" + "p_" + "a8Xk29dLqPz0Wm3v7TnB5cR1yE4uHs6gJf2Q"
    findings = Pipeline().scan("python", f"open('/srv/{secret}/x').read()").findings
    assert not any(secret in finding.remedy for finding in findings)
