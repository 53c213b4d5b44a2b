"""Ordinary programs, written without a thought of the jail, print what they print outside, unaccused.

`programs` holds them, each beside what plain Python, bash or Node.js printed for it. Who wrote them did not
know what would run them: do not change one to make it pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanproof.sandbox import Execution, Limits, Program, Sandbox, SessionSpec, ToolAnswer
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

pytestmark = pytest.mark.load

PROGRAMS = Path(__file__).parent / "programs"
LANGUAGES = {".py": "python", ".sh": "bash", ".mjs": "javascript"}
LIMITS = Limits(
    wall_s=120,
    cpu_s=120,
    memory_bytes=2 << 30,
    processes=256,
    disk_bytes=512 << 20,
    open_files=1024,
)
"""Those of a machine; what is tested is the boundary."""
OTHER_OUTPUT = {
    "b023.py": "multiprocessing's `spawn` loads the program's file, and a program of the jail has none",
    "b108.sh": "/proc shows the program's own processes alone, so that there may be one only",
    "b148.mjs": "Node.js finds network interfaces by netlink, which the filter does not know",
}
"""Programs that print something else in the jail, and why; docs/sandbox.md says the same."""
_LISTENS = "a server of its own, on the loopback: listening has no key in a policy yet"
_SIGNALS = "a signal to itself or to its own child: the scanners do not follow whose number it is"
_ENVIRONMENT = "variables that it has set itself, or hands on to a program that it starts"
ACCUSED_BY_SCANNERS = {
    "a130.py": "asks a host that the preset does not name",
    "b005.py": _LISTENS,
    "b007.py": _SIGNALS,
    "b040.py": _ENVIRONMENT,
    "b047.py": "looks at its user's account, home and limits",
    "b057.py": "a variable and a folder that `mock` has put in the place of the true ones",
    "b058.py": _LISTENS,
    "b059.py": _LISTENS,
    "b060.py": _LISTENS,
    "b075.py": "forks, which none of the presets allows by itself",
    "b076.py": _SIGNALS,
    "b087.sh": "a path above the folder that it has changed to",
    "b102.sh": _SIGNALS,
    "b107.sh": "tries a file that is not there, to handle the error",
    "b108.sh": "shows the mounts of the machine",
    "b119.sh": _ENVIRONMENT,
    "b120.sh": _ENVIRONMENT,
    "b127.sh": "tries a file that is not there, to handle the error",
    "b143.mjs": "takes a URL with a password apart, that of nobody",
    "b145.mjs": _LISTENS,
    "b146.mjs": _LISTENS,
}
"""Programs that the preset for agents that write code denies, and why; the replay accuses none of them."""
FILES = sorted(path for path in PROGRAMS.iterdir() if path.suffix in LANGUAGES)
LEAVING = re.compile(
    r"thread|Timer|tqdm|joblib|n_jobs|Pool|Process\b|asyncio|concurrent|atexit|daemon|finalize|__del__"
)
"""What a program has that may leave something running, or does something at its end."""
IN_A_SESSION = [
    path for path in FILES if path.suffix == ".py" and LEAVING.search(path.read_text(encoding="utf-8"))
]


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


def assert_not_accused(execution: Execution) -> None:
    refused = [(each.kind, each.target) for each in execution.attempts if not each.allowed]
    assert refused == [], execution.stderr[-1000:]
    assert execution.attempts_whole


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_prints_what_it_prints_outside_and_is_not_accused(jail: Sandbox, path: Path) -> None:
    execution = jail.run(Program(LANGUAGES[path.suffix], path.read_text(encoding="utf-8"), limits=LIMITS))
    assert_not_accused(execution)
    expected = path.with_suffix(".out").read_text(encoding="utf-8")
    if path.name in OTHER_OUTPUT:
        assert execution.stdout != expected, f"{path.name} is no exception any more: take it out of the list"
    else:
        assert execution.stdout == expected, execution.stderr[-1000:]


@pytest.mark.parametrize("path", IN_A_SESSION, ids=lambda path: path.name)
def test_a_session_that_ends_over_it_is_not_accused_of_what_it_leaves(jail: Sandbox, path: Path) -> None:
    session = jail.session(SessionSpec(limits=LIMITS), lambda _request: ToolAnswer())
    try:
        execution = session.execute(path.read_text(encoding="utf-8"))
    finally:
        session.close()
    assert_not_accused(session.amended().get(0, execution))


def test_the_scanners_deny_none_but_those_that_are_known() -> None:
    pipeline = Pipeline(load_policy("coding"))
    denied = {
        path.name
        for path in FILES
        if pipeline.scan(LANGUAGES[path.suffix], path.read_text(encoding="utf-8")).verdict is Verdict.DENY
    }
    assert denied <= ACCUSED_BY_SCANNERS.keys()


def test_each_program_has_its_output() -> None:
    assert len(FILES) >= 280
    assert all(path.with_suffix(".out").is_file() for path in FILES)
    assert {path.name for path in FILES} >= OTHER_OUTPUT.keys()
    assert not [path for path in PROGRAMS.iterdir() if path.suffix not in {*LANGUAGES, ".out"}]
