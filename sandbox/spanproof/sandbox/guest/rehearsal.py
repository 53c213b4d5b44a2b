"""Doing once, before any fork, what programs do: imports put off, caches, the interpreter's specialised code.

Every guest inherits what is done here and need not do it again; a page it need not write is one that is not
copied for it. Nothing of it is seen by a program. A package's part is done where the package is loaded.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import sys

from spanproof.sandbox.guest import determinism
from spanproof.sandbox.guest.inbox import Inbox
from spanproof.sandbox.guest.main import encode_rehearsal, run_rehearsed_job

_TIMES = 20  # Enough for the interpreter to specialise what it runs often
_PLAIN = """
import json, math, re
def f(n, *rest, **named): return [str(i) for i in range(n)]
class C:
    def __init__(self): self.x = {n: float(n) * 1.5 for n in f(40)}
rows = [C() for _ in range(20)]
text = json.dumps([row.x for row in rows]) + repr(f(20)) + f"{math.pi:.3f}"
print(end="", flush=True)
try: {}["missing"]
except KeyError as error: text += repr(error)
sum(float(part) for part in re.findall("[0-9]+", text))
"""
_OF_PACKAGES = {
    "numpy": """
import numpy as np
m = np.arange(9.0).reshape(3, 3) + np.eye(3)
repr(m @ m), m.mean(axis=0), np.sort(m), m[m > 2], np.random.default_rng(), np.linalg.det(m)
""",
    "pandas": """
import io
import pandas as pd
d = pd.DataFrame({"a": [1, 2, 2], "b": [1.0, None, 3.0], "c": list("xyz")})
repr(d), repr(d.describe()), repr(d.b), d.to_csv(), d.to_json(), d.to_dict(), d.info(buf=io.StringIO())
pd.read_csv(io.StringIO(d.to_csv())), d.groupby("a").b.sum(), d.merge(d, on="a"), d.sort_values("b")
d.pivot_table(values="b", index="a"), pd.concat([d, d]), d.fillna(0), d[d.a > 1], d.c.str.upper()
pd.to_datetime(["2024-01-01"]), pd.date_range("2024-01-01", periods=3), d.a.value_counts(), d.apply(len)
""",
}


def run_rehearsal() -> None:
    """Rehearse what programs do; leaves nothing but warmth."""
    ours, arguments = sys.modules["__main__"], sys.argv
    for name, text in _OF_PACKAGES.items():
        if name in sys.modules:
            _run_repeatedly(text, 2)
    _run_repeatedly(_PLAIN, _TIMES)
    determinism.update_generators()
    sys.modules["__main__"], sys.argv = ours, arguments
    linecache.clearcache()


def _run_repeatedly(text: str, times: int) -> None:
    """Run a program of ours; another version of its package may lack what it calls, which is not reported."""
    job, inbox = encode_rehearsal(text), Inbox(-1)
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):  # noqa: PTH123
        for _ in range(times):
            exit_code = run_rehearsed_job(job, inbox)
            if exit_code != 0:
                return
