"""A clock, a seed: what a program finds fixed, in Python, in C code, and in the programs it starts."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from spanproof.sandbox import (
    Clock,
    Execution,
    Fixtures,
    Limits,
    Program,
    Sandbox,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
    UnsupportedFixtures,
)
from spanproof.sandbox.registry import open_sandbox

START_S = 1_600_000_000.0
CLOCKS = """
import datetime, sqlite3, subprocess, sys, time
import numpy, pandas
print(int(time.time()), time.time_ns() // 10**9, int(time.clock_gettime(time.CLOCK_REALTIME)))
print(int(datetime.datetime.now(datetime.UTC).timestamp()), datetime.date.today())
print(sqlite3.connect(":memory:").execute("select datetime('now'), strftime('%s', 'now')").fetchone())
print(numpy.datetime64("now"), pandas.Timestamp.now(), time.strftime("%Y-%m-%d"))
sys.stdout.flush()
subprocess.run(["date", "+%s"])
subprocess.run([sys.executable, "-c", "import time; print(int(time.time()))"])
"""
CHANCE = """
import os, random, secrets, subprocess, sys, tempfile, threading, uuid
import numpy
print(random.random(), random.SystemRandom().random(), uuid.uuid4(), secrets.token_hex(), os.urandom(8).hex())
print(numpy.random.random(), numpy.random.default_rng().random(), tempfile.mktemp(), hash("text"))
print(open("/dev/urandom", "rb").read(6).hex(), os.getrandom(100_000)[-4:].hex())
found = {}
def draw(number): found[number] = os.urandom(4).hex()
threads = [threading.Thread(target=draw, args=(n,)) for n in range(4)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
print(sorted(found.items()))
sys.stdout.flush()
cold = "import os, random; print(random.random(), os.urandom(4).hex(), hash('text'))"
subprocess.run([sys.executable, "-c", cold])
subprocess.run("head -c 8 /dev/urandom | od -An -tx1; mktemp -u", shell=True)
"""


@pytest.fixture(scope="module")
def jail() -> Iterator[Sandbox]:
    with open_sandbox("jail") as sandbox:
        yield sandbox


def run(jail: Sandbox, source: str, fixtures: Fixtures, language: str = "python") -> Execution:
    patient = Limits(wall_s=120.0, cpu_s=120.0)
    execution = jail.run(Program(language, source, limits=patient, fixtures=fixtures))
    assert execution.failure_class == "ok", (execution.stderr, execution.attempts)
    return execution


def no_tools(_request: ToolRequest) -> ToolAnswer:
    return ToolAnswer()


def test_a_frozen_clock_is_frozen_for_all_who_read_it(jail: Sandbox) -> None:
    shown = run(jail, CLOCKS, Fixtures(clock=Clock(START_S, 0))).stdout.split("\n")
    assert shown[:4] == [
        "1600000000 1600000000 1600000000",
        "1600000000 2020-09-13",
        "('2020-09-13 12:26:40', '1600000000')",
        "2020-09-13T12:26:40 2020-09-13 12:26:40 2020-09-13",
    ]
    assert shown[4:6] == ["1600000000", "1600000000"]


def test_a_clock_runs_at_its_rate_and_spans_stay_real(jail: Sandbox) -> None:
    source = (
        "import time\na = time.time(), time.monotonic()\ntime.sleep(0.2)\nb = time.time(), time.monotonic()\n"
    )
    source += "print(b[0] - a[0], b[1] - a[1])"
    for rate, low, high in ((0, 0, 0), (1, 0.2, 100), (100, 20, 10_000)):
        shown, real = map(float, run(jail, source, Fixtures(clock=Clock(START_S, rate))).stdout.split())
        assert low <= shown <= high
        assert 0.2 <= real < 100


def test_bash_sees_the_clock(jail: Sandbox) -> None:
    shown = run(
        jail, "date +%s; echo $EPOCHSECONDS; printf '%(%F)T\\n' -1", Fixtures(clock=Clock(START_S, 0)), "bash"
    )
    assert shown.stdout.split() == ["1600000000", "1600000000", "2020-09-13"]


def test_without_a_clock_the_real_one_is_seen_even_after_a_run_with_one(jail: Sandbox) -> None:
    run(jail, "pass", Fixtures(clock=Clock(START_S)))
    assert abs(float(run(jail, "import time; print(time.time())", Fixtures()).stdout) - time.time()) < 60


def test_limits_do_not_look_at_the_program_s_clock(jail: Sandbox) -> None:
    from spanproof.sandbox import FailureClass, Limits

    source = "import time\nwhile time.time() < 1_600_000_001: pass"
    is_paused = Program(
        "python", source, limits=Limits(wall_s=0.5), fixtures=Fixtures(clock=Clock(START_S, 0))
    )
    assert jail.run(is_paused).failure_class is FailureClass.TIMEOUT


def test_a_clock_no_machine_has_is_refused(jail: Sandbox) -> None:
    for clock in (Clock(-1.0), Clock(1e12), Clock(float("nan")), Clock(0.0, -1.0), Clock(0.0, float("inf"))):
        with pytest.raises(UnsupportedFixtures, match="clock"):
            jail.run(Program("python", "pass", fixtures=Fixtures(clock=clock)))


def test_chance_repeats_with_the_seed_and_only_with_it(jail: Sandbox) -> None:
    shown = [run(jail, CHANCE, Fixtures(seed=seed)).stdout for seed in (1, 1, 2)]
    assert shown[0] == shown[1]
    for first, other in zip(shown[0].split("\n")[:2], shown[2].split("\n"), strict=False):
        assert not set(first.split()[:-1]) & set(other.split()[:-1])
    free = [run(jail, CHANCE, Fixtures()).stdout for _ in range(2)]
    assert free[0] != free[1]


def test_the_device_gives_as_much_as_is_read(jail: Sandbox) -> None:
    source = (
        "head -c 3000000 /dev/urandom | sha256sum; dd if=/dev/random bs=1000 count=1 status=none | sha256sum"
    )
    shown = [run(jail, source, Fixtures(seed=5), "bash").stdout for _ in range(2)]
    assert shown[0] == shown[1]
    assert len(set(shown[0].split())) == 3


def test_one_descriptor_of_chance_too_many_is_the_program_s_error_alone(jail: Sandbox) -> None:
    source = "f = []\ntry:\n    while True: f.append(open('/dev/urandom', 'rb'))\n"
    source += "except OSError as e: print(e.errno)"
    assert run(jail, source, Fixtures(seed=5)).stdout == "24\n"


def test_a_session_s_steps_draw_on(jail: Sandbox) -> None:
    found = []
    for _ in range(2):
        spec = SessionSpec(fixtures=Fixtures(seed=3, clock=Clock(START_S, 0)))
        with jail.session(spec, no_tools) as session:
            session.execute("import os, sqlite3, uuid")
            steps = [session.execute("[str(uuid.uuid4()), os.urandom(4).hex()]").result for _ in range(2)]
            now = session.execute(
                "sqlite3.connect(':memory:').execute(\"select datetime('now')\").fetchone()[0]"
            )
            assert now.result == "2020-09-13 12:26:40"
        assert steps[0] != steps[1]
        found.append(steps)
    assert found[0] == found[1]


def test_a_step_reports_its_own_cpu_time(jail: Sandbox) -> None:
    with jail.session(SessionSpec(), no_tools) as session:
        busy = session.execute(
            "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
        )
        idle = session.execute("1")
    assert busy.cpu_s >= 0.25
    assert idle.cpu_s < 0.2
