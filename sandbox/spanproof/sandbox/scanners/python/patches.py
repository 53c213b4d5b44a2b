"""Functions that a test replaces by a mock: `patch("requests.get")`, as a decorator or by `with`.

In: the expressions of a `with`, or the decorators of a function. Out: the names that are mocks inside.
A call that says what takes the place of a function replaces nothing here: that may be anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from spanproof.sandbox.scanners.python.machine import Machine
from spanproof.sandbox.scanners.python.names import normalise_name
from spanproof.sandbox.scanners.reader.values import Ref, read_constant_text

MOCK: Final = Ref("unittest.mock.MagicMock()")
"""What takes the place of a function."""

# Keywords that leave a mock a mock.
_HARMLESS: Final = frozenset({"return_value", "autospec"})


@contextmanager
def replace_patched(m: Machine, nodes: Iterable[ast.expr]) -> Iterator[None]:
    """Read what is inside with mocks in place of the functions that these expressions patch."""
    names = [name for name in (_find_patched(m, node) for node in nodes) if name is not None]
    before = {name: m.overrides.get(name) for name in names}
    m.overrides.update(dict.fromkeys(names, MOCK))
    try:
        yield
    finally:
        for name, value in before.items():
            m.overrides.pop(name, None)
            if value is not None:
                m.overrides[name] = value


def _find_patched(m: Machine, node: ast.expr) -> str | None:
    """Return the resolved name of the function that a call of `patch` replaces by a mock."""
    if not isinstance(node, ast.Call) or not {one.arg for one in node.keywords} <= _HARMLESS:
        return None
    function = m.evaluate(node.func)
    called = function.name if isinstance(function, Ref) else ""
    if called == "unittest.mock.patch" and len(node.args) == 1:
        name = read_constant_text(m.evaluate(node.args[0]))
        return normalise_name(name) if name is not None else None
    if called == "unittest.mock.patch.object" and len(node.args) == 2:
        owner, name = m.evaluate(node.args[0]), read_constant_text(m.evaluate(node.args[1]))
        is_module = isinstance(owner, Ref) and "()" not in owner.name
        return normalise_name(f"{owner.name}.{name}") if is_module and name is not None else None  # type: ignore[attr-defined]
    return None
