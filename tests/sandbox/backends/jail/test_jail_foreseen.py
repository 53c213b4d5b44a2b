"""A session that is given what comes gives what it gives without, whatever programs do and the hint says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spanproof.sandbox import (
    Execution,
    Foreseen,
    Limits,
    SandboxBroken,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    ToolStub,
)
from spanproof.sandbox.backends.jail.backend import JailSandbox

PATIENT = Limits(wall_s=120.0, cpu_s=120.0, output_bytes=4096)
SPEC = SessionSpec(tools=(ToolStub("look", ("item",)), ToolStub("other")), limits=PATIENT)
ATOMS = (
    "x = 1",
    "x = globals().get('x', 0) + 1",
    "globals().get('x')",
    "print('said', globals().get('x'))",
    "import sys; print('to stderr', file=sys.stderr)",
    "print('o' * 70_000)",  # more than a pipe holds
    "look('a')",
    "look(item='b')",
    "x = look('b')",
    "other(1, True, word=2.0)",
    "for number in range(3): x = look(number % 2)",
    "try: look('fails')\nexcept Exception as error: print(type(error).__name__, error)",
    "try: look('a', 'too many')\nexcept TypeError as error: print(error)",
    "import threading; t = threading.Thread(target=look, args=('a',)); t.start(); t.join()",
    "look('fails')",
    "look(object())",
    "1 / 0",
    "x = (",
    "raise SystemExit",
    "import sys; sys.exit(3)",
    "import os; os._exit(4)",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "open('left.txt', 'a').write('1')",
    "try: open('/etc/shadow')\nexcept OSError: pass",
    "open('/etc/shadow')",
    "import ctypes; ctypes.CDLL(None).mount(b'', b'/', b'', 0, None)",  # the step goes on, and is unsafe
    "import os\nif os.fork() == 0: os._exit(0)\nstatus = os.wait()[1]",
    "import os, sys\nif os.fork() == 0: x = look; sys.exit(7)\nx = os.waitstatus_to_exitcode(os.wait()[1])",
    "import os\nif child := os.fork(): os.wait(); x = 'parent'\nelse: x = 'child'; print('in the child')",
)
steps = st.lists(st.lists(st.sampled_from(ATOMS), max_size=3).map("\n".join), min_size=1, max_size=5)
requests = st.one_of(
    st.sampled_from(["a", "b", "fails", 0, 1]).map(lambda item: ToolRequest("look", (), {"item": item})),
    st.just(ToolRequest("other", (1, True), {"word": 2.0})),
    st.just(ToolRequest("other", (1, 1), {"word": 2})),
)
hints = st.lists(st.lists(requests, max_size=4), min_size=5, max_size=5)


def answer_to(request: ToolRequest) -> ToolAnswer:
    """The same to the same question, so that it may be given ahead."""
    if request.kwargs.get("item") == "fails":
        return ToolAnswer(error_type="Refused", error_message="as always")
    return ToolAnswer(result=[request.tool, *request.args, dict(request.kwargs)])


@dataclass
class Outcome:
    """All that somebody who runs steps can see, but for times and sizes."""

    executions: list[object] = field(default_factory=list)
    requested: list[ToolRequest] = field(default_factory=list)

    def answer(self, request: ToolRequest) -> ToolAnswer:
        self.requested.append(request)
        return answer_to(request)

    def note(self, execution: Execution) -> None:
        self.executions.append(
            (
                execution.failure_class,
                execution.exit_code,
                execution.signal,
                execution.stdout,
                execution.stderr,
                execution.attempts,
                execution.files,
                execution.raised,
                execution.result,
                execution.result_text,
            )
        )


@pytest.fixture(scope="module")
def jail() -> Iterator[JailSandbox]:
    with JailSandbox() as sandbox:
        yield sandbox


def outcome_of(jail: JailSandbox, sources: list[str], hint: list[Foreseen], renewed: bool) -> Outcome:
    seen = Outcome()
    with jail.session(SPEC, seen.answer) as session:
        session.foresee(hint)
        for place, source in enumerate(sources):
            if renewed:
                session.foresee(hint[place:])
            seen.requested.append(ToolRequest(f"step {place}", (), {}))
            try:
                seen.note(session.execute(source))
            except SandboxBroken as broken:
                seen.executions.append(str(broken))
                break
    return seen


@settings(suppress_health_check=list(HealthCheck), max_examples=60)
@given(steps, hints, st.booleans(), st.integers(0, 2))
@example(
    ["look('a')\nlook('a')", "look('a')"],
    [[answer] for answer in [ToolRequest("look", (), {"item": "a"})] * 5],
    False,
    0,
)
def test_what_comes_of_steps_is_the_same_whatever_is_foreseen(
    jail: JailSandbox, sources: list[str], calls: list[list[ToolRequest]], renewed: bool, more: int
) -> None:
    foreseen = [
        Foreseen(source, [(requested, answer_to(requested)) for requested in made])
        for source, made in zip([*sources, *["look('never requested for')"] * more], calls, strict=False)
    ]
    untold = outcome_of(jail, sources, [], renewed=False)
    assert outcome_of(jail, sources, foreseen, renewed) == untold
