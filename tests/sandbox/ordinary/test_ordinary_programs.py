"""Ordinary programs, written without a thought of the jail, print what they print outside, unaccused.

`programs` holds them, each beside what plain Python, bash or Node.js printed for it. Who wrote them did not
know what would run them: do not change one to make it pass. Programs in Python whose packages take longer to
import than they run go many in one run (`in_one_run.py`); `run_all.py` gives each a run of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spanproof.sandbox import Program, Sandbox, SessionSpec, ToolAnswer
from spanproof.sandbox.policy_file import load_policy
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline

from .in_one_run import find_modules
from .run_all import (
    LANGUAGES,
    LIMITS,
    PROGRAMS,
    get_limits,
    list_problems,
    list_programs,
    list_refused,
    run_in_jail,
)

pytestmark = pytest.mark.load

OTHER_OUTPUT = {
    "b023.py": "multiprocessing's `spawn` loads the program's file, and a program of the jail has none",
    "b108.sh": "/proc shows the program's own processes alone, so that there may be one only",
    "b148.mjs": "Node.js finds network interfaces by netlink, which the filter does not know",
    "c153.py": "there are no pseudo-terminals",
    "c200.sh": "no account of the jail has the number 0, so that `tar` has no name for it",
    "c244.mjs": "`fs.watch` needs inotify, which would report who opens files that others share",
}
"""Programs that print something else in the jail, and why; docs/sandbox.md says the same."""
_OUTSIDE = "a path outside its folders: `/`, its user's home"
_MACHINE = "looks at its user, its terminal or the machine"
_ENVIRONMENT = "reads a variable, or all of them, that the preset does not name"
_FORKS = "forks, which none of the presets allows by itself"
_HOST = "names a host or a port that the preset does not"
ACCUSED_BY_SCANNERS = {
    "a130.py": "builds a request to a host that the preset does not name",
    "b047.py": _MACHINE,
    "b057.py": "a variable and a folder that `mock` has put in the place of the true ones",
    "b075.py": _FORKS,
    "b107.sh": _ENVIRONMENT,
    "b108.sh": "shows the mounts of the machine",
    "c082.py": "a database at a port that the preset does not name",
    "c126.py": "tries the socket of the system's log",
    "c141.py": _MACHINE,
    "c146.py": _HOST,
    "c150.py": _FORKS,
    "c151.py": _FORKS,
    "c153.py": _MACHINE,
    "c161.py": "calls a library of C by ctypes",
    "c167.py": _OUTSIDE,
    "c179.py": _ENVIRONMENT,
    "c193.sh": _ENVIRONMENT,
    "c208.sh": _MACHINE,
    "c216.sh": "clears the shell's history",
    "c248.mjs": "looks for its settings in /etc",
    "c309.py": _HOST,
    "c327.sh": _OUTSIDE,
    "c336.sh": _MACHINE,
    "c340.sh": _MACHINE,
    "c365.py": _OUTSIDE,
    "c378.py": _ENVIRONMENT,
    "c380.py": _ENVIRONMENT,
    "c384.py": "unpickles what calls a function, and uses ctypes",
    "d043.py": _ENVIRONMENT,
    "d114.sh": _MACHINE,
    "d147.sh": _HOST,
    "d154.sh": _OUTSIDE,
    "d221.mjs": _ENVIRONMENT,
    "d408.py": _HOST,
    "d409.py": _HOST,
    "d422.py": _FORKS,
    "d432.py": _HOST,
    "d439.py": _MACHINE,
    "e076.sh": _ENVIRONMENT,
}
"""Programs that the preset for agents that write code denies, and why; the replay accuses none of them."""
FILES = list_programs()
LEAVING = re.compile(
    r"thread|Timer|tqdm|joblib|n_jobs|Pool|Process\b|asyncio|concurrent|atexit|daemon|finalize|__del__"
)
"""What a program has that may leave something running, or does something at its end."""
IN_ONE_RUN = (Path(__file__).parent / "in_one_run.py").read_text(encoding="utf-8")
ALL_S = 500
"""Seconds that the programs of one run have together."""
TOGETHER = [
    path
    for path in FILES
    if path.suffix == ".py"
    and path.name not in OTHER_OUTPUT
    and find_modules([path.read_text(encoding="utf-8")])
]
"""Programs whose packages take longer to import than they run: a run imports them once for all."""
APART = [path for path in FILES if path not in TOGETHER]
RUNS = [TOGETHER[first::3] for first in range(3)]
"""Some ninety programs each, about half a minute of a processor."""
IN_A_SESSION = [
    path
    for path in FILES
    if path.suffix == ".py"
    and not (path in TOGETHER and path.name >= "c")
    and LEAVING.search(path.read_text(encoding="utf-8"))
]
"""Of those that take long to import, the oldest are enough."""


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize("path", APART, ids=lambda path: path.name)
def test_it_prints_what_it_prints_outside_and_is_not_accused(jail: Sandbox, path: Path) -> None:
    execution = run_in_jail(jail, path)
    expected = path.with_suffix(".out").read_text(encoding="utf-8")
    if path.name in OTHER_OUTPUT:
        assert list_refused(execution) == []
        assert execution.stdout != expected, f"{path.name} is no exception any more: take it out of the list"
    else:
        assert list_problems(execution, expected) == []


@pytest.mark.parametrize("paths", RUNS, ids=lambda paths: f"{paths[0].stem} to {paths[-1].stem}")
def test_many_in_one_run_print_what_they_print_outside_and_are_not_accused(
    jail: Sandbox, paths: list[Path]
) -> None:
    sources = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    limits = replace(LIMITS, wall_s=ALL_S, cpu_s=ALL_S, output_bytes=4 << 20)
    files = {"programs.json": json.dumps(sources).encode()}
    execution = jail.run(Program("python", IN_ONE_RUN, files=files, limits=limits))
    assert list_refused(execution) == [], "`run_all.py` says by which program"
    answers = {answer["name"]: answer for answer in map(json.loads, execution.stdout.splitlines())}
    assert list(answers) == list(sources), execution.stderr[-1000:]
    expected = {path.stem: path.with_suffix(".out").read_text(encoding="utf-8") for path in paths}
    other = {name: answers[name] for name in sources if answers[name]["stdout"] != expected[name]}
    assert other == {}


@pytest.mark.parametrize("path", IN_A_SESSION, ids=lambda path: path.name)
def test_a_session_that_ends_over_it_is_not_accused_of_what_it_leaves(jail: Sandbox, path: Path) -> None:
    session = jail.session(SessionSpec(limits=get_limits(path)), lambda _request: ToolAnswer())
    try:
        execution = session.execute(path.read_text(encoding="utf-8"))
    finally:
        session.close()
    assert list_refused(session.amended().get(0, execution)) == []


def test_the_scanners_deny_none_but_those_that_are_known() -> None:
    pipeline = Pipeline(load_policy("coding"))
    denied = {
        path.name
        for path in FILES
        if pipeline.scan(LANGUAGES[path.suffix], path.read_text(encoding="utf-8")).verdict is Verdict.DENY
    }
    assert denied <= ACCUSED_BY_SCANNERS.keys()


def test_each_program_has_its_output() -> None:
    assert len(FILES) >= 1037
    assert all(path.with_suffix(".out").is_file() for path in FILES)
    assert {path.name for path in FILES} >= OTHER_OUTPUT.keys()
    assert not [path for path in PROGRAMS.iterdir() if path.suffix not in {*LANGUAGES, ".out"}]
