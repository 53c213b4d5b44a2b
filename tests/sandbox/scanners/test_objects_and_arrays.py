"""Values that travel through classes, enumerations, maps, getters and arrays are judged where they arrive."""

from __future__ import annotations

import pytest

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

_STORE = (
    "const fs = require('fs')\n"
    "class Store { path = 'a.json'; constructor(d) { if (d) this.path = d + '/x.json' }"
    " set(p) { this.path = p } load() { return fs.readFileSync(this.path) } }\n"
)
_READER = (
    "import * as fs from 'fs'\n"
    "class Reader { constructor(private readonly p: string) {} go() { return fs.readFileSync(this.p) } }\n"
)

_SNIPPETS = {
    "a field": ("javascript", _STORE + "new Store('data').load()", Verdict.ALLOW),
    "one of two instances": (
        "javascript",
        _STORE + "const a = new Store(), b = new Store(); a.set('/etc/x'); b.set('c'); a.load()",
        Verdict.DENY,
    ),
    "a field of a class that extends": (
        "javascript",
        _STORE + "class Other extends Store { path = '/etc/shadow' }\nnew Other().load()",
        Verdict.DENY,
    ),
    "a parameter property": ("typescript", _READER + "new Reader('data/x').go()", Verdict.ALLOW),
    "a parameter property outside": ("typescript", _READER + "new Reader('/etc/x').go()", Verdict.DENY),
    "a static field": (
        "javascript",
        "class F { static #p = '/root/x'; static go() { require('fs').readFileSync(F.#p) } }\nF.go()",
        Verdict.DENY,
    ),
    "a getter": (
        "javascript",
        "const o = { get p() { return '/etc/shadow' } }\nrequire('fs').readFileSync(o.p)",
        Verdict.DENY,
    ),
    "a map": (
        "javascript",
        "const fs = require('fs'), m = new Map([['p', 'in.txt']]); fs.readFileSync(m.get('p'))",
        Verdict.ALLOW,
    ),
    "a map outside": (
        "javascript",
        "const m = new Map(); m.set('q', '/etc/x')\nrequire('fs').writeFileSync(m.get('q'), '')",
        Verdict.DENY,
    ),
    "a key of a map that is not known": (
        "javascript",
        "const m = new Map(); m.set(key(), '/etc/x')\nrequire('fs').writeFileSync(m.get('q'), '')",
        Verdict.DENY,
    ),
    "a URL": (
        "javascript",
        (
            "const u = new URL('https://api.github.com/x'); u.search = 'a=1'; fetch(u); fetch(`${u}`);"
            " fetch(u.toString())"
        ),
        Verdict.ALLOW,
    ),
    "a URL outside": (
        "javascript",
        "const u = new URL('https://evil.example'); fetch(`${u}x`)",
        Verdict.DENY,
    ),
    "a URL relative to another": ("javascript", "fetch(new URL('/x', 'https://evil.example'))", Verdict.DENY),
    "a URL relative to one of many": (
        "javascript",
        "require('https').request(new URL('/x', ['0.csv', 'https://evil.example'].at(-1)))",
        Verdict.REVIEW,
    ),
    "a URL relative to what is not known": ("javascript", "fetch(new URL('/x', base))", Verdict.REVIEW),
    "a URL relative to the module": (
        "javascript",
        "require('fs').readFileSync(new URL('./a.json', import.meta.url))",
        Verdict.ALLOW,
    ),
    "a URL whose host is set": (
        "javascript",
        "const u = new URL('https://api.github.com'); u.hostname = 'evil.example'; fetch(u)",
        Verdict.REVIEW,
    ),
    "a URL of which something is set": (
        "javascript",
        "const u = new URL('https://api.github.com'); u[key] = 'evil.example'; fetch(u)",
        Verdict.REVIEW,
    ),
    "a URL that gets the fields of another object": (
        "javascript",
        "const u = Object.assign(new URL('https://api.github.com'), JSON.parse(given)); fetch(u)",
        Verdict.REVIEW,
    ),
    "an enumeration": (
        "typescript",
        "import * as fs from 'fs'\nenum P { Key = 'data/x' }\nfs.readFileSync(P.Key)",
        Verdict.ALLOW,
    ),
    "an array by key": (
        "bash",
        'declare -A m=([in]=data [out]=/etc)\ncat "${m[in]}/a.csv"',
        Verdict.ALLOW,
    ),
    "an array by key, outside": (
        "bash",
        'declare -A m=([in]=data [out]=/etc)\ncat "${m[out]}/x"',
        Verdict.DENY,
    ),
    "an array by a key that is not known": ("bash", 'm=(x y); m[$i]=/etc/x; cat "${m[1]}"', Verdict.DENY),
    "an array that is replaced": ("bash", 'a=(x y); a=(/etc/x z); cat "${a[0]}"', Verdict.DENY),
    "an array that grows": ("bash", 'a=(x); a+=(/etc/x); cat "${a[1]}"', Verdict.DENY),
    "all of an array": ("bash", 'a=(x /etc/y); for f in "${a[@]}"; do cat "$f"; done', Verdict.DENY),
    "fields of a line": ("bash", 'IFS=: read -r a b <<< "data:x y"\ncat "$a/$b"', Verdict.ALLOW),
    "fields of a line, outside": ("bash", 'IFS=: read -r a b <<< "/etc:passwd"\ncat "$a/$b"', Verdict.DENY),
    "printf to a variable": ("bash", 'printf -v t "%s/%s" /etc shadow\ncat $t', Verdict.DENY),
    "an annotation that is resolved": (
        "python",
        "import typing\nclass R:\n    a: \"__import__('os').remove('/etc/x')\"\ntyping.get_type_hints(R)",
        Verdict.DENY,
    ),
    "a client of a service": (
        "python",
        "import huggingface_hub\nhuggingface_hub.upload_file(path_or_fileobj='d.csv', repo_id='a/b')",
        Verdict.REVIEW,
    ),
    "weights only": ("python", "import torch\ntorch.load('m.pt', weights_only=True)", Verdict.ALLOW),
    "more than weights": ("python", "import torch\ntorch.load('m.pt')", Verdict.REVIEW),
}


@pytest.mark.parametrize("name", _SNIPPETS)
def test_a_value_is_judged_where_it_arrives(name: str) -> None:
    language, source, verdict = _SNIPPETS[name]
    scan = Pipeline().scan(language, source)
    assert scan.verdict is verdict, scan.findings
