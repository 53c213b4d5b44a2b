"""Doing once, before any fork, what programs do: imports put off, caches, the interpreter's specialised code.

Every guest inherits what is done here and need not do it again; a page it need not write is one that is not
copied for it. Nothing of it is seen by a program. A package's part is done where the package is loaded.
"""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType

from spanproof.sandbox.jail.guest import determinism
from spanproof.sandbox.jail.guest.reporter import Reporter
from spanproof.sandbox.jail.wire import FROM_HOST, Decoder, encode

_TIMES = 20
"""Enough for the interpreter to specialise what it runs often."""
_PLAIN = b"""
import json, math, re
def f(n, *rest, **named): return [str(i) for i in range(n)]
class C:
    def __init__(self): self.x = {n: float(n) * 1.5 for n in f(40)}
rows = [C() for _ in range(20)]
text = json.dumps([row.x for row in rows]) + repr(f(20)) + f"{math.pi:.3f}"
try: {}["missing"]
except KeyError as error: text += repr(error)
sum(float(part) for part in re.findall("[0-9]+", text))
"""
_OF_PACKAGES = {
    "numpy": b"""
import numpy as np
m = np.arange(9.0).reshape(3, 3) + np.eye(3)
repr(m @ m), m.mean(axis=0), np.sort(m), m[m > 2], np.random.default_rng(), np.linalg.det(m)
""",
    "pandas": b"""
import io
import pandas as pd
d = pd.DataFrame({"a": [1, 2, 2], "b": [1.0, None, 3.0], "c": list("xyz")})
repr(d), repr(d.describe()), repr(d.b), d.to_csv(), d.to_json(), d.to_dict(), d.info(buf=io.StringIO())
pd.read_csv(io.StringIO(d.to_csv())), d.groupby("a").b.sum(), d.merge(d, on="a"), d.sort_values("b")
d.pivot_table(values="b", index="a"), pd.concat([d, d]), d.fillna(0), d[d.a > 1], d.c.str.upper()
pd.to_datetime(["2024-01-01"]), pd.date_range("2024-01-01", periods=3), d.a.value_counts(), d.apply(len)
""",
}


def rehearse() -> None:
    """Do it; leaves nothing but warmth."""
    _go_through(_PLAIN, _TIMES)
    for name, text in _OF_PACKAGES.items():
        if name in sys.modules:
            with contextlib.suppress(Exception):  # another version may lack what we call
                _go_through(text, 2)


def _go_through(text: bytes, times: int) -> None:
    for _ in range(times):
        decoder = Decoder(FROM_HOST)
        decoder.feed(encode({"kind": "rehearsal", "limits": {"a": 1.5}, "token": "0" * 32}, [text]))
        frame = decoder.next()
        assert frame is not None
        namespace = dict(ModuleType("rehearsal").__dict__)
        exec(compile(frame.parts[0].decode(), "<rehearsal>", "exec"), namespace)  # noqa: S102 - our own text
        determinism.reseed()
        Reporter(-1, "").send("rehearsal", name="x")
