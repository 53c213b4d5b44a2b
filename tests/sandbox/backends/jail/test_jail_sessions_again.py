"""A supervisor that served a session serves the next one, and nothing of the first is left for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import pytest

from spanproof.sandbox import (
    Clock,
    FailureClass,
    Fixtures,
    Limits,
    Program,
    Sandbox,
    SandboxBroken,
    Session,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
)
from spanproof.sandbox.backends.jail.backend import JailSandbox
from spanproof.sandbox.guest.wire import Frame, Header
from spanproof.sandbox.supervisor.run.session import Loan

PLAIN = SessionSpec()
FIXED = SessionSpec(
    tools=(ToolStub("lookup"),),
    files={"given.txt": b"1"},
    fixtures=Fixtures(seed=3, clock=Clock(1_600_000_000.0)),
)
STALE = """
import builtins, gc, json, os, random, sys, threading
builtins.left = sys.left = json.left = 1
json.dumps = lambda *_: "forged"
os.environ["LEFT"] = "1"
open("left.txt", "w").write("1")
open("/tmp/left.txt", "w").write("1")
os.mkdir("/dev/shm/left")
sys.path.insert(0, "/tmp")
sys.modules["left"] = sys
os.umask(0o077)
threading.Thread(target=lambda: __import__("time").sleep(60), daemon=True).start()
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        while True:
            __import__("time").sleep(1)
lookup("left")
"""
MOUNTED = sorted({path.split("/")[2] for path in (sys.prefix, sys.base_prefix) if path.startswith("/tmp/")})
"""What a jail's own /tmp holds from the start: the way to an interpreter that lies below the machine's."""
LOOK = f"MOUNTED = {MOUNTED}\n"
LOOK += """
import builtins, json, os, socket, sys, threading, time
found = [name for name, seen in {
    "builtins": hasattr(builtins, "left") or hasattr(sys, "left") or "left" in sys.modules,
    "patched module": hasattr(json, "left") or json.dumps(1) != "1",
    "environment": "LEFT" in os.environ,
    "files": os.path.lexists("left.txt") or os.path.lexists("given.txt") or os.listdir("/tmp") != MOUNTED,
    "shared memory": bool(os.listdir("/dev/shm")),
    "path": "/tmp" in sys.path,
    "umask": os.umask(0o022) == 0o077,
    "threads": threading.active_count() != 1,
    "processes": {name for name in os.listdir("/proc") if name.isdigit()} - {"1", str(os.getpid())},
    "tool": "lookup" in globals(),
    "clock": time.time() < 1_700_000_000,
    "descriptors": len(os.listdir("/proc/self/fd")) > 6,
}.items() if seen]
print(found, os.getpid())
"""


@pytest.fixture(scope="module")
def jail() -> Iterator[JailSandbox]:
    with JailSandbox() as sandbox:
        yield sandbox


def answered(request: ToolRequest) -> ToolAnswer:
    return ToolAnswer(result=1)


def supervisors_of(jail: JailSandbox) -> set[int]:
    """The supervisors that wait for a caller."""
    return {id(supervisor) for family in jail._pool._families.values() for supervisor in family.idle}


def soil(session: Session) -> None:
    done = session.execute(STALE)
    assert done.failure_class is FailureClass.OK, done


@pytest.mark.parametrize("in_order", [True, False])
def test_nothing_of_a_session_is_left_for_the_next_one_or_for_a_run(
    jail: JailSandbox, in_order: bool
) -> None:
    with jail.session(FIXED, answered) as session:
        soil(session)
        if not in_order:
            ended = session.execute("import os; os._exit(0)")
            assert ended.exit_code == 0
    (supervisor,) = supervisors_of(jail)
    with jail.session(PLAIN, answered) as session:
        looked = session.execute(LOOK)
        assert looked.stdout.startswith("[] "), looked
    assert supervisors_of(jail) == {supervisor}
    with jail.session(FIXED, answered) as session:
        soil(session)
    run = jail.run(Program("python", LOOK))
    assert run.stdout.startswith("[] "), run
    assert supervisors_of(jail) == {supervisor}


def test_seeds_and_the_clock_start_again_with_each_session(jail: Sandbox) -> None:
    source = """
import os, random, time, uuid
[random.random(), os.urandom(4).hex(), str(uuid.uuid4()), hash('a'), int(time.time()) // 1000]"""
    seen = []
    for _ in range(3):
        with jail.session(FIXED, answered) as session:
            seen.append(session.execute(source).result)
            session.execute(source)
    assert seen[0] == seen[1] == seen[2]
    with jail.session(PLAIN, answered) as session:
        free = session.execute(source).result
    assert isinstance(free, list)
    assert isinstance(seen[0], list)
    assert not set(map(str, free[:3])) & set(map(str, seen[0][:3]))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("while True: pass", FailureClass.TIMEOUT),
        ("import os; os.kill(os.getpid(), 9)", FailureClass.KILLED),
        ("x = bytearray(400 << 20)", FailureClass.OUT_OF_MEMORY),
    ],
)
def test_a_step_that_had_to_be_stopped_leaves_a_supervisor_that_is_whole(
    jail: JailSandbox, source: str, expected: FailureClass
) -> None:
    wall_s = 2.0 if expected is FailureClass.TIMEOUT else 120.0
    spec = SessionSpec(limits=Limits(wall_s=wall_s, cpu_s=wall_s, memory_bytes=64 << 20))
    with jail.session(spec, answered) as session:
        session.execute("x = 1")
        ended = session.execute(source)
        assert ended.failure_class is expected
    with jail.session(PLAIN, answered) as session:
        assert session.execute(LOOK).stdout.startswith("[] ")


def test_a_session_left_while_its_step_waits_for_an_answer_is_over(jail: JailSandbox) -> None:
    def broken(request: ToolRequest) -> ToolAnswer:
        raise RuntimeError("the host's own")

    with jail.session(FIXED, broken) as session, pytest.raises(RuntimeError, match="the host's own"):
        session.execute("lookup(1)")
    with jail.session(PLAIN, answered) as session:
        assert session.execute(LOOK).stdout.startswith("[] ")


def test_a_supervisor_that_does_not_end_its_session_is_not_used_again() -> None:
    kept: list[str] = []
    supervisor = _Silent()
    loan = Loan(supervisor, lambda: kept.append("back"), lambda: kept.append("dropped"))
    loan.wait_for_close()
    assert kept == ["back"]  # it was given nothing to do
    loan = Loan(supervisor, lambda: kept.append("back"), lambda: kept.append("dropped"))
    loan.send({"kind": "job"})
    loan.wait_for_close()
    loan.wait_for_close()
    assert kept == ["back", "dropped"]


class _Silent:
    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """Take it."""

    def wait_for_frame(self, timeout_s: float) -> Frame:
        """Say nothing."""
        raise SandboxBroken("no answer")


def test_a_child_that_comes_to_the_end_of_its_step_ends_and_the_session_is_its_parents(
    jail: JailSandbox,
) -> None:
    source = "import os\nif os.fork():\n    where = 'parent', os.waitstatus_to_exitcode(os.wait()[1])"
    with jail.session(SessionSpec(limits=Limits(wall_s=120.0)), answered) as session:
        assert session.execute(f"{source}\nelse:\n    where = 'child'").failure_class is FailureClass.OK
        assert session.execute("where").result == ["parent", 0]
        assert session.execute(f"{source}\nelse:\n    1 / 0").failure_class is FailureClass.OK
        assert session.execute("where").result == ["parent", 1]


_FORGES = """
import json, os, struct, sys
frame = sys._getframe()
while frame.f_code.co_name != "run_session":
    frame = frame.f_back
step, token = frame.f_locals["header"]["step"], frame.f_locals["reporter"].token
forged = dict(kind=KIND, token=token, step=step, outcome="ok", call=1, tool="lookup", args=[], kwargs={})
forged |= {FIELD: "deep", "parts": []}
text = json.dumps(forged).replace('"deep"', "[" * DEPTH + "]" * DEPTH).encode()
os.write(900, struct.pack("!II", len(text), 0) + text)
while True: __import__("time").sleep(1)
"""


@pytest.mark.parametrize(("kind", "field"), [("call", "args"), ("step", "result")])
@pytest.mark.parametrize("depth", [100, 980, 5000])
def test_a_guest_that_nests_what_it_says_breaks_nothing(
    jail: JailSandbox, kind: str, field: str, depth: int
) -> None:
    spec = SessionSpec(tools=FIXED.tools, limits=Limits(wall_s=0.3))
    with jail.session(spec, answered) as session:
        step = session.execute(f"KIND, FIELD, DEPTH = {kind!r}, {field!r}, {depth}\n{_FORGES}")
        assert step.failure_class is FailureClass.TIMEOUT, step


def test_a_step_that_fails_where_its_directory_is_gone_leaves_the_session(jail: JailSandbox) -> None:
    with jail.session(SessionSpec(), lambda _request: ToolAnswer()) as session:
        session.execute("import os; os.mkdir('d'); os.chdir('d'); os.rmdir('../d')")
        assert session.execute("open('x', 'w')").failure_class is FailureClass.EXCEPTION
        assert session.execute("1 + 1").result_text == "2"


def test_a_process_that_ends_between_two_steps_is_no_step_of_the_next_session(jail: JailSandbox) -> None:
    end = "import os, threading; threading.Timer(0.05, os._exit, [7]).start()"
    with jail.session(SessionSpec(limits=Limits(wall_s=120.0)), answered) as session:
        session.execute(end)
        assert session.execute("import time\nwhile True: time.sleep(0.1)").exit_code == 7
    with jail.session(PLAIN, answered) as session:
        session.execute(end)
        jail.run(
            Program("python", "import time; time.sleep(0.2)")
        )  # meanwhile it ends, and `close` says so to a supervisor that knows
    for _ in range(3):
        with jail.session(PLAIN, answered) as session:
            assert session.execute("40 + 2").result == 42
