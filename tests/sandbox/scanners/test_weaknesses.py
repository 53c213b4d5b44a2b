from __future__ import annotations

import pytest

from spanproof.sandbox.scanners.model import Severity, Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.scanners.score import compute_security_score

_PIPELINE = Pipeline()

_WEAK = [
    (22, "python", "import sys\nopen('data/' + sys.argv[1])"),
    (22, "python", "import tarfile\ntarfile.open('a.tar').extractall('out')"),
    (78, "python", "import os\ndef f(name):\n    os.system('ls ' + name)"),
    (78, "python", "import subprocess as s\ndef f(x):\n    cmd = f'ls {x}'\n    s.run(cmd, shell=True)"),
    (79, "python", "from markupsafe import Markup\ndef f(x):\n    return Markup('<b>' + x)"),
    (79, "javascript", "el.innerHTML = value;"),
    (89, "python", "def f(cur, x):\n    cur.execute('SELECT a FROM t WHERE b = %s' % x)"),
    (89, "python", "def f(cur, x):\n    q = 'DELETE FROM t WHERE b = ' + x\n    cur.execute(q)"),
    (89, "javascript", "db.query(`SELECT * FROM t WHERE id = ${id}`);"),
    (94, "python", "def f(x):\n    return eval(x)"),
    (295, "python", "import requests\nrequests.get('https://api.github.com', verify=False)"),
    (295, "bash", "curl -sk https://api.github.com"),
    (327, "python", "from Crypto.Cipher import AES\nAES.new(key, AES.MODE_ECB)"),
    (328, "python", "from hashlib import md5 as digest\ndigest(b'x')"),
    (328, "javascript", "crypto.createHash('md5')"),
    (330, "python", "import time\nsession_id = str(time.time())"),
    (338, "python", "import random\nreset_token = ''.join(random.choices('abc', k=8))"),
    (377, "python", "import tempfile\ntempfile.mktemp()"),
    (502, "python", "import yaml\nyaml.load(text, Loader=yaml.Loader)"),
    (502, "python", "import pickle\npickle.loads(data)"),
    (611, "python", "from lxml import etree\netree.XMLParser(resolve_entities=True)"),
    (732, "python", "import os\nos.chmod('a.txt', 0o777)"),
    (732, "bash", "chmod 777 out"),
    (798, "python", "connect(password='hunter2')"),
    (798, "python", "def f(password):\n    return password == 'hunter2'"),
]

_SOUND = [
    ("python", "import sqlite3\ndef f(cur, x):\n    cur.execute('SELECT a FROM t WHERE b = ?', (x,))"),
    ("python", "import subprocess\nsubprocess.run(['ls', '-l'])"),
    ("python", "import yaml\nyaml.safe_load('a: 1')\nyaml.load('a: 1', Loader=yaml.SafeLoader)"),
    ("python", "import hashlib\nhashlib.sha256(b'x')\nhashlib.md5(b'x', usedforsecurity=False)"),
    ("python", "import random\nsample = random.choice([1, 2])\nmax_tokens = random.randint(1, 9)"),
    ("python", "import secrets\ntoken = secrets.token_hex(16)"),
    ("python", "import ast\nast.literal_eval('[1]')\nresult = df.eval('a + b')"),
    ("python", "password = None\napi_key = 'YOUR_API_KEY'\nlogin(password=given)"),
    ("python", "import os\nos.chmod('a.txt', 0o600)"),
    ("bash", "chmod 644 a.txt\ncurl -fsSL https://api.github.com"),
    ("javascript", "crypto.createHash('sha256'); el.textContent = value;"),
]


@pytest.mark.parametrize(("cwe", "language", "code"), _WEAK)
def test_a_weakness_is_reported_with_its_number_and_a_remedy(cwe: int, language: str, code: str) -> None:
    found = [one for one in _PIPELINE.scan(language, code).findings if one.cwe == cwe]

    assert found
    assert all(one.severity is Severity.ADVISORY and one.verdict is Verdict.ALLOW for one in found)
    assert all(one.remedy for one in found)


@pytest.mark.parametrize(("language", "code"), _SOUND)
def test_the_sound_way_is_no_weakness(language: str, code: str) -> None:
    assert [one for one in _PIPELINE.scan(language, code).findings if one.cwe is not None] == []


def test_a_repeated_weakness_costs_the_score_once() -> None:
    once = _PIPELINE.scan("python", "import hashlib\nhashlib.md5(b'')").findings
    twice = _PIPELINE.scan("python", "import hashlib\nhashlib.md5(b'')\nhashlib.md5(b'')").findings

    assert compute_security_score(()) == 1
    assert compute_security_score(once) == compute_security_score(twice) == pytest.approx(0.8)
