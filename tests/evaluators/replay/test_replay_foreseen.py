"""A replay whose steps are announced comes out as one whose steps are requested one by one."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spanproof.evaluators.replay.interpreter import Interpreter
from spanproof.evaluators.replay.tape import Tape
from spanproof.sandbox import Limits, SandboxBroken, SessionSpec, ToolStub
from spanproof.trace import Payload, RecordedCall, SpanError

SPEC = SessionSpec(tools=(ToolStub("look"), ToolStub("roll")), limits=Limits(wall_s=120.0, cpu_s=120.0))
PRELUDE = "n = 0\ndef final_answer(value): return value"
ATOMS = (
    "n += 1",
    "print('n', n)",
    "n += look('a')",
    "look('b')",
    "look(item='b')",
    "roll()",
    "for number in range(n): roll()",
    "try: look('b')\nexcept Exception as error: print(type(error).__name__, error)",
    "look('c')",
    "1 / 0",
    "raise SystemExit",
    "import os; os._exit(1)",
    "import ctypes; ctypes.CDLL(None).mount(b'', b'/', b'', 0, None)",
)
RECORDED = (
    RecordedCall("look", ("a",), {}, Payload("2", 2)),
    RecordedCall("look", ("b",), {}, Payload("text", "text")),
    RecordedCall("look", (), {"item": "b"}, Payload("[1]", [1])),
    RecordedCall("look", ("b",), {}, error=SpanError("KeyError", "'b'")),
    RecordedCall("roll", (), {}, Payload("3", 3)),
    RecordedCall("roll", (), {}, Payload("4", 4)),
)
steps = st.lists(st.lists(st.sampled_from(ATOMS), max_size=4).map("\n".join), min_size=1, max_size=5)
places = st.integers(0, 4)
calls = st.lists(st.tuples(st.sampled_from(RECORDED), places), max_size=8)


class Replay:
    """The steps of a run, some left out, with all that a step can be seen by."""

    def __init__(self, jail, sources, recorded, owned, left_out):
        self.sources = sources
        self.left_out = left_out
        self.owned = owned
        self.tape = Tape([(call, self.id_of(place)) for call, place in recorded])
        self.interpreter = Interpreter(jail, SPEC, self.tape, PRELUDE)

    def id_of(self, place):
        return str(place) if self.owned else None

    def coming(self, place):
        after = range(place, len(self.sources))
        return self.tape.foreseen([(self.sources[each], self.id_of(each)) for each in after])

    def seen(self, announced):
        for place, source in enumerate(self.sources):
            if place in self.left_out:  # unknown when the steps before it began
                continue
            self.tape.turn_to(self.id_of(place))
            try:
                done = self.interpreter.execute(
                    source, lambda place=place: self.coming(place) if announced else ()
                )
            except SandboxBroken as broken:
                yield str(broken)
                return
            yield done.failure_class, done.exit_code, done.stdout, done.stderr, done.raised, done.result
            yield list(self.tape.divergences), self.tape.gave_text


def with_and_without(*of_a_run):
    for announced in (True, False):
        replay = Replay(*of_a_run)
        try:
            yield list(replay.seen(announced))
        finally:
            replay.interpreter.close()


A, B = RECORDED[:2]


@settings(suppress_health_check=list(HealthCheck), max_examples=60)
@given(
    steps,
    calls.map(lambda made: sorted(made, key=lambda pair: pair[1])),
    st.booleans(),
    st.sets(places, max_size=1),
)
@example(["look('a')\nlook('a')", "look('a')"], [(A, 0), (A, 1)], True, set())  # more calls than on record
@example(["look('a')", "look('b')"], [(A, 0), (B, 0)], True, set())  # one that belongs to the step before
@example(["n", "look('a')", "look('a')"], [(A, 1), (A, 2)], True, {1})
def test_a_replay_comes_out_the_same_announced_or_not(jail, sources, recorded, owned, left_out):
    announced, unannounced = with_and_without(jail, sources, recorded, owned, left_out)
    assert announced == unannounced
