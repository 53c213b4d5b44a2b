# ruff: noqa: E501 - programs keep their lines
"""Interpreters started ahead: a run finds Node.js or bash up, and is in all else as a run without."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator

import pytest
from waiting import wait_until

from spanproof.sandbox import Clock, Execution, FailureClass, Fixtures, Limits, Program, Sandbox
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.supervisor.run.ahead import compute_ahead_plan
from spanproof.sandbox.supervisor.run.job import build_job, read_runtimes

_LIMITS = Limits(wall_s=120.0, cpu_s=120.0)
# When its own process was started, in seconds since 1970; bash takes the boot from the kernel's clock of now.
_BORN = {
    "javascript": "console.log(require('node:perf_hooks').performance.timeOrigin / 1000)",
    "typescript": "const born: number = performance.timeOrigin / 1000; console.log(born)",
    "bash": "read -ra stat < /proc/$$/stat; echo ${stat[21]}",
}
_LANGUAGES = list(_BORN)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox("jail", workers=1) as opened:
        yield opened


def run(sandbox: Sandbox, language: str, source: str, **how: object) -> Execution:
    how.setdefault("limits", _LIMITS)
    return sandbox.run(Program(language, source, **how))  # type: ignore[arg-type]


def born(sandbox: Sandbox, language: str, **how: object) -> float:
    """Return when the process of a run was started, by the clock since 1970."""
    execution = run(sandbox, language, _BORN[language], **how)
    assert execution.failure_class is FailureClass.OK, execution
    number = float(execution.stdout)
    return number if language != "bash" else time.time() - time.monotonic() + number / 100


def await_warm(sandbox: Sandbox, language: str, **how: object) -> None:
    """Run programs of a language until one meets an interpreter that was there before it."""

    def is_warm() -> bool:
        time.sleep(0.5)
        requested = time.time()
        return born(sandbox, language, **how) < requested - 0.1

    wait_until(is_warm, f"an interpreter of {language} that was started ahead", within_s=120)


@pytest.mark.parametrize("language", _LANGUAGES)
def test_the_interpreter_of_the_next_program_is_started_ahead(sandbox: Sandbox, language: str) -> None:
    await_warm(sandbox, language)


SAME = [
    ("bash", "listed=$(env); sort <<< \"$listed\"; ls -A /box/code /box/work; echo \"$-|$#|${!-unset}|$_|$0|$SHLVL\"; declare -F; trap; shopt; set -o"),
    ("bash", "ls /proc/self/fd; ulimit -a; hash; jobs; cat; exit 3"),
    ("bash", "if then"),
    ("bash", "no-such-program"),
    ("javascript", "console.log(process.argv, process.execArgv, process.env, require.main === module, Object.keys(require.cache))"),
    ("javascript", "const fs = require('node:fs'); console.log(fs.readdirSync('/box/code'), fs.readFileSync(0, 'utf8'))"),
    ("javascript", "console.log(process.eventNames(), process._getActiveHandles().length, Object.keys(globalThis))"),
    ("javascript", "import fs from 'node:fs'; console.log(import.meta.url, await fs.promises.readdir('.'))"),
    ("javascript", "throw new TypeError('no')"),
    ("javascript", "let let = 1"),
    ("javascript", "require('nowhere')"),
    ("typescript", "enum A { B = 3 }\nconst a: A = A.B; console.log(a, process.argv, process.execArgv, __filename)"),
    ("typescript", "const a: = 3"),
    ("typescript", "enum A { B }\nthrow new Error(A[0])"),
]  # fmt: skip


def test_a_program_sees_the_same_and_ends_the_same_as_without() -> None:
    for language in _LANGUAGES:
        with open_sandbox("jail", workers=1) as warm:
            await_warm(warm, language)
            for source in (source for each, source in SAME if each == language):
                with open_sandbox("jail", workers=1) as cold:
                    first = run(cold, language, source, stdin=b"in")
                time.sleep(0.5)  # the next is up again by then, mostly
                second = run(warm, language, source, stdin=b"in")
                for name in ("failure_class", "exit_code", "stdout", "stderr", "raised", "attempts", "files"):
                    assert getattr(first, name) == getattr(second, name), (name, source)


def test_a_shell_that_waited_counts_its_seconds_from_the_programs_start(sandbox: Sandbox) -> None:
    await_warm(sandbox, "bash")
    time.sleep(3.0)  # what a shell would count that counts from its own start
    requested = time.monotonic()
    counted = int(run(sandbox, "bash", "echo $SECONDS").stdout)
    assert counted <= time.monotonic() - requested + 1.0  # bash counts the turns of the clock's second


CHANCE = {
    "javascript": "const fd = require('node:fs').openSync('/dev/urandom'); const read = Buffer.alloc(6); require('node:fs').readSync(fd, read); console.log(Math.random(), read, require('node:child_process').execFileSync('mktemp', ['-u']).toString(), process.execArgv)",
    "bash": "echo $SRANDOM $(head -c 8 /dev/urandom | od -An -tx1); mktemp -u; echo $(mktemp -u)",
}  # fmt: skip


@pytest.mark.parametrize("language", list(CHANCE))
def test_a_seed_gives_an_interpreter_that_waited_what_it_gives_any(language: str) -> None:
    found = {}
    with open_sandbox("jail", workers=1) as warm:
        for seed in (7, 8):
            how = {"fixtures": Fixtures(seed=seed)}
            with open_sandbox("jail", workers=1) as cold:
                found[seed] = run(cold, language, CHANCE[language], **how).stdout
            # The interpreter that waits has the other seed first.
            assert run(warm, language, CHANCE[language], **how).stdout == found[seed]
            await_warm(warm, language, **how)
            time.sleep(0.5)  # the next is up again by then, mostly
            assert run(warm, language, CHANCE[language], **how).stdout == found[seed]
        assert run(warm, language, CHANCE[language]).stdout not in found.values()
    assert found[7] != found[8]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("javascript", "globalThis.mine ??= 0; globalThis.mine += 1; require('fs').appendFileSync('m', 'x'); console.log(mine, require('fs').readFileSync('m', 'utf8'))"),
        ("bash", "mine=$((mine + 1)); echo x >> m; echo $mine $(< m); export mine"),
    ],
)  # fmt: skip
def test_no_process_serves_two_runs(sandbox: Sandbox, language: str, source: str) -> None:
    await_warm(sandbox, language)
    said = {run(sandbox, language, source).stdout for _ in range(4)}
    assert len(said) == 1, said


def test_a_program_that_keeps_running_in_the_background_does_not_reach_the_next(sandbox: Sandbox) -> None:
    await_warm(sandbox, "bash")
    left = "(trap '' TERM HUP; while :; do echo late; sleep 0.01; done) & disown; echo first"
    assert "first" in run(sandbox, "bash", left).stdout
    assert (
        run(sandbox, "bash", "ls /proc | grep -c '^[0-9]'; sleep 0.2; echo second").stdout.split()[-1]
        == "second"
    )


def test_what_a_program_needs_beside_the_one_before_is_given(sandbox: Sandbox) -> None:
    await_warm(sandbox, "javascript")
    seeded = [
        run(sandbox, "javascript", "console.log(Math.random())", fixtures=Fixtures(seed=7)) for _ in "ab"
    ]
    assert seeded[0].stdout == seeded[1].stdout
    await_warm(sandbox, "javascript")
    small = Limits(wall_s=120.0, cpu_s=120.0, memory_bytes=128 * 1024 * 1024)
    grows = "const all = []; for (;;) all.push(new Array(1e5).fill(all.length))"
    assert run(sandbox, "javascript", grows, limits=small).failure_class is FailureClass.OUT_OF_MEMORY
    assert run(sandbox, "javascript", "console.log(1)").stdout == "1\n"


def test_other_languages_are_not_kept_waiting_by_an_interpreter_of_another(sandbox: Sandbox) -> None:
    await_warm(sandbox, "bash")
    for language, source in [
        ("python", "print(1)"),
        ("javascript", "console.log(1)"),
        ("bash", "echo 1"),
    ] * 2:
        assert run(sandbox, language, source).stdout == "1\n"


def test_only_programs_that_begin_alike_start_an_interpreter_ahead() -> None:
    found = read_runtimes()

    def planned(language: str, **how: object) -> bool:
        header, _parts = build_job(Program(language, "1", **how), found)  # type: ignore[arg-type]
        return compute_ahead_plan(header) is not None

    assert all(planned(language) for language in _LANGUAGES)
    assert not planned("python")
    assert planned("javascript", fixtures=Fixtures(seed=1))
    assert not planned("javascript", fixtures=Fixtures(seed=1, clock=Clock(start_s=0.0)))
    assert not planned("bash", limits=Limits(processes=2))
    assert planned("python", tests="assert True")
    assert not planned("python", tests="assert True", fixtures=Fixtures(clock=Clock(start_s=0.0)))
    assert not planned("python", tests="assert True", limits=Limits(processes=2))


# Looks for a marker that it holds in two halves, the second one reversed.
SEARCH = {
    "javascript": """
        const fs = require('node:fs');
        const head = Buffer.from('@HEAD'), tail = [...'@TAIL'].reverse().join('');
        const memory = fs.openSync('/proc/self/mem'), found = [];
        const look = (data, where) => {
            for (let at = data.indexOf(head); at >= 0; at = data.indexOf(head, at + 1))
                if (data.toString('latin1', at + head.length, at + head.length + tail.length) === tail) found.push(where);
        };
        for (const line of fs.readFileSync('/proc/self/maps', 'latin1').split('\\n')) {
            const span = /^(\\w+)-(\\w+) rw/.exec(line);
            if (!span) continue;
            let at = BigInt('0x' + span[1]); const end = BigInt('0x' + span[2]);
            for (; at < end; at += 1048576n) {
                const size = Number(end - at < 1048576n ? end - at : 1048576n), data = Buffer.alloc(size);
                try { fs.readSync(memory, data, 0, size, at); } catch { continue; }
                look(data, line.slice(-40));
            }
        }
        look(fs.readFileSync('/proc/self/environ'), 'environ');
        const walk = (folder) => {
            for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
                const path = folder + '/' + entry.name;
                // An interpreter below /tmp is in the box, too.
                if (entry.isDirectory()) { if (path !== '/box@PREFIX') walk(path); }
                else try { if (path !== '/box/code/main.js') look(fs.readFileSync(path), path); } catch {}
            }
        };
        walk('/box');
        console.log(JSON.stringify(found));
        """,
    "bash": """
        head=@HEAD; tail=$(rev <<< @TAIL); cat /proc/self/environ /proc/$$/environ > seen
        while read -r span modes rest; do
            [[ $modes == rw* ]] || continue
            dd if=/proc/$$/mem bs=4096 skip=$((0x${span%-*} / 4096)) count=$(( (0x${span#*-} - 0x${span%-*}) / 4096 )) 2> /dev/null
        done < <(cat /proc/$$/maps) >> seen
        # Joined, the marker is in this shell's own memory from here on.
        grep -c -a "$head$tail" seen
        """,
}  # fmt: skip


@pytest.mark.parametrize("language", list(SEARCH))
@pytest.mark.parametrize("seed", [None, 3])
def test_an_interpreter_that_waits_holds_nothing_of_the_job_before_it(
    language: str, seed: int | None
) -> None:
    marker = secrets.token_hex(12)
    comment = "#" if language == "bash" else "//"
    search = SEARCH[language].replace("@HEAD", marker[:12]).replace("@TAIL", marker[12:][::-1])
    search = search.replace("@PREFIX", sys.prefix)
    with open_sandbox("jail", workers=1) as sandbox:
        await_warm(sandbox, language, fixtures=Fixtures(seed=seed))
        run(
            sandbox,
            language,
            f"{_BORN[language]} {comment} {marker}\n",
            fixtures=Fixtures(seed=seed),
            stdin=marker.encode(),
            files={"kept": marker.encode()},
        )
        time.sleep(0.5)  # the next is up again by then, mostly
        found = run(sandbox, language, search, fixtures=Fixtures(seed=seed))
        assert found.stdout.strip() in ("[]", "0"), found


# Passes where the process of the tests was there before the program was requested.
WAITED = """
import os, time
with open("/proc/self/stat") as stat:
    born = int(stat.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
assert time.clock_gettime(time.CLOCK_BOOTTIME) - born > 0.3
"""
TESTED = [
    ("def f(n): return n + 1", "assert f(1) == 2\nassert f(2) == 2", {}),
    ("def f(", "assert f(1) == 2", {}),
    ("def f(n): return n", "assert f(", {}),
    ("import os; os._exit(7)", "assert True", {}),
    ("raise SystemExit(4)", "assert True", {}),
    ("x = 1", "def test_x():\n    import pytest\n    with pytest.raises(KeyError):\n        {}[x]", {}),
    ("x = 1", "def test_x(monkeypatch):\n    monkeypatch.setattr('os.sep', '|')\n    assert x == 1", {}),
    ("x = 1", "import json\nassert json.own == 5", {"json.py": b"own = 5"}),
    ("x = 1", "import tools.a\nassert tools.a.own == 5", {"src/tools/a.py": b"own = 5"}),
    ("import sys; sys.path.insert(0, 'src')", "from tools import own\nassert own == 5", {"src/tools.py": b"own = 5"}),
    ("import threading; t = threading.Timer(30, print); t.daemon = True; t.start()", "assert t.is_alive()", {}),
    ("f = len", "assert f([1]) == 1\nassert swap() is None\nassert f([1]) == 2", {}),
    ("def f(n): return 1\ndef swap():\n    global f\n    f = lambda n: 2", "assert f(0) == 1\nassert swap() is None\nassert f(0) == 2", {}),
    ("\ud800 = 1", "assert True", {}),
]  # fmt: skip


def test_a_program_with_tests_finds_their_process_waiting_and_ends_the_same(sandbox: Sandbox) -> None:
    def tested(opened: Sandbox, source: str, tests: str, files: dict[str, bytes]) -> Execution:
        return run(opened, "python", source, tests=tests, files=files)

    def is_warm() -> bool:
        time.sleep(0.5)
        return tested(sandbox, "", WAITED, {}).tests_passed == 1

    with open_sandbox("jail", workers=1) as without:
        for number, (source, tests, files) in enumerate(TESTED):
            if number % 4 == 0:
                wait_until(is_warm, "a process of tests that was started ahead", within_s=120)
            # A program without tests leaves a guest that no process of tests waits beside.
            run(without, "python", "")
            first = tested(without, source, tests, files)
            second = tested(sandbox, source, tests, files)
            for name in (
                *("failure_class", "exit_code", "stdout", "stderr", "raised", "attempts", "files"),
                *("tests_passed", "tests_total", "tests_failed", "tests_names", "tests_apart"),
            ):
                assert getattr(first, name) == getattr(second, name), (name, source)


def test_a_seed_gives_tests_what_it_gives_them_where_no_process_waited(sandbox: Sandbox) -> None:
    source = "import random, secrets; print(random.random(), secrets.token_hex(4))"
    tests = "import random\nprint(random.random())\nassert True"
    texts = [
        run(sandbox, "python", source, tests=tests, fixtures=Fixtures(seed=seed)).stdout
        for seed in (7, 7, 8, 7)
    ]
    assert texts[0] == texts[1] == texts[3] != texts[2]
