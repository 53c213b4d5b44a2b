"""SWE-bench (Lite, Verified and the full set): patches, applied and tested in each instance's own image.

Fields: `instance_id`, `repo`, `base_commit`, `problem_statement`, `patch`, `test_patch`, `FAIL_TO_PASS`,
`PASS_TO_PASS`. Predictions: `instance_id`, `model_patch`. The image holds the repository in `/testbed`; a
program in a container of the docker backend works on a copy of it, without a network.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from spanproof.benchmarks.files import get_list, get_text, iter_rows
from spanproof.benchmarks.formats.sources import Source
from spanproof.benchmarks.model import (
    PASSED,
    Answer,
    Graded,
    GradingSetup,
    Problem,
    build_failed_grade,
    build_unjudged_grade,
)
from spanproof.sandbox import Execution, FailureClass, Limits, Program, SandboxError

_PYTEST: Final = "python -m pytest -rA --tb=no -p no:cacheprovider"
# How the tests of a repository are run; by pytest where it is not named.
_COMMANDS: Final[Mapping[str, str]] = {
    "django/django": "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1",
    "sympy/sympy": "bin/test -C --verbose",
    "astropy/astropy": f"{_PYTEST} -vv -o console_output_style=classic",
}

_STATUS: Final = {
    "PASSED": True, "XFAIL": True, "XPASS": True, "FAILED": False, "ERROR": False,
    "ok": True, "FAIL": False, "f": True, "F": False, "E": False, "expected failure": True,
}  # fmt: skip
_PYTEST_LINE = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS)\s+(\S.*?)(?:\s+-\s.*)?$")
_UNITTEST_LINE = re.compile(r"^(\S.*?) \.\.\. (ok|FAIL|ERROR|expected failure)\b")
_SYMPY_LINE = re.compile(r"^(test_\w+) (ok|f|F|E)\b")
_FILE = re.compile(r"^diff --git a/(\S+) b/\S+$", re.MULTILINE)

_APPLIED: Final = "spanproof: the patch applies"
_STARTED: Final = "spanproof: tests start"
_SCRIPT: Final = """
work="$PWD"; export HOME="$work" GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
cp -r /testbed "$work/testbed" && cd "$work/testbed" || exit 90
if [ -f /opt/miniconda3/bin/activate ]; then . /opt/miniconda3/bin/activate testbed; fi
export PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="$work/testbed:$work/testbed/src:$work/testbed/lib:${{PYTHONPATH-}}"
apply() {{ git apply "$1" || git apply --reject "$1" || patch --batch --fuzz=5 -p1 -i "$1"; }}
{apply_model}
echo {applied}
git checkout -q {base} -- {files} 2>/dev/null
git apply "$work/tests.diff" || exit 92
echo {started}
{command} {targets} 2>&1
exit 0
"""
_MEMORY: Final = 4 * 1024**3
_DISK: Final = 3 * 1024**3
_OUTPUT: Final = 32 * 1024 * 1024


def iter_swe_bench(source: Source) -> Iterator[Problem]:
    """Yield the instances.

    Raises:
        BenchmarkError: an entry lacks a field.
    """
    for location, row in iter_rows(source.problems):
        identity, repository = get_text(location, row, "instance_id"), get_text(location, row, "repo")
        gold = row.get("patch")
        yield PatchProblem(
            id=identity,
            prompt=get_text(location, row, "problem_statement"),
            language="diff",
            reference=Answer(identity, gold, is_whole=True) if isinstance(gold, str) and gold else None,
            groups={"repository": repository},
            repository=repository,
            base=get_text(location, row, "base_commit"),
            test_patch=get_text(location, row, "test_patch"),
            fail_to_pass=tuple(map(str, get_list(location, row, "FAIL_TO_PASS"))),
            pass_to_pass=tuple(map(str, get_list(location, row, "PASS_TO_PASS"))),
            image=source.image.format(id=identity.lower(), instance=identity.lower().replace("__", "_1776_")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchProblem(Problem):
    """An issue of a repository with the tests that a patch must turn and those that it must keep.

    Attributes:
        image: the local container image that holds the repository and its packages.
    """

    repository: str
    base: str
    test_patch: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    image: str

    @property
    def test_sets(self) -> tuple[str, ...]:
        """Both lists together first: then the instance is resolved."""
        return ("resolved", "FAIL_TO_PASS", "PASS_TO_PASS")

    @property
    def task(self) -> str:
        """The issue, with what form the answer must have."""
        return (
            f"Repository {self.repository} at commit {self.base}. Answer with one unified diff in one fenced"
            f" block that resolves this issue.\n\n{self.prompt}"
        )

    def evaluate(self, answer: Answer, setup: GradingSetup) -> Mapping[str, Graded]:
        """Return whether the patch turns what it must and keeps the rest."""
        if answer.error or not answer.text.strip():
            return dict.fromkeys(self.test_sets, build_failed_grade(answer.error or "the patch is empty"))
        if setup.open_image is None:
            return dict.fromkeys(
                self.test_sets, build_unjudged_grade("no backend here runs container images")
            )
        try:
            with setup.open_image(self.image) as sandbox:
                ran = sandbox.run(self._build_program(answer.text, setup))
                # Nothing ran: the patch is to blame only where tests run without it.
                is_broken = _has_no_test_results(ran) and _has_no_test_results(
                    sandbox.run(self._build_program(None, setup))
                )
        except SandboxError as problem:
            return dict.fromkeys(self.test_sets, build_unjudged_grade(str(problem)))
        output = ran.stdout
        if ran.failure_class is FailureClass.TIMEOUT:
            return dict.fromkeys(
                self.test_sets, build_failed_grade("the tests take too long", ran.failure_class, ran.wall_s)
            )
        if _APPLIED not in output:
            if ran.exit_code == _NO_PATCH:
                return dict.fromkeys(
                    self.test_sets, build_failed_grade("the patch does not apply", None, ran.wall_s)
                )
            return dict.fromkeys(
                self.test_sets,
                build_unjudged_grade(_describe_failure(self.image, ran.stderr), ran.failure_class),
            )
        if _STARTED not in output:
            return dict.fromkeys(
                self.test_sets, build_unjudged_grade(f"the test patch does not apply: {ran.stderr[-300:]}")
            )
        printed = output.partition(_STARTED)[2]
        statuses = read_statuses(printed)
        if is_broken:
            reason = f"no test runs in {self.image}, without the patch neither; the runner printed: "
            return dict.fromkeys(self.test_sets, build_unjudged_grade(reason + printed.strip()[-300:]))
        if not statuses:
            reason = f"no test ran; without the patch they do; the runner printed: {printed.strip()[-300:]}"
            return dict.fromkeys(self.test_sets, build_failed_grade(reason, None, ran.wall_s))
        turned = _evaluate_tests("FAIL_TO_PASS", self.fail_to_pass, statuses, ran.wall_s)
        kept = _evaluate_tests("PASS_TO_PASS", self.pass_to_pass, statuses, ran.wall_s)
        return {"resolved": kept if turned.passed else turned, "FAIL_TO_PASS": turned, "PASS_TO_PASS": kept}

    def _build_program(self, patch: str | None, setup: GradingSetup) -> Program:
        """Return the program that runs the tests with the patch, or without any."""
        files = list(dict.fromkeys(_FILE.findall(self.test_patch)))
        script = _SCRIPT.format(
            apply_model="" if patch is None else f'apply "$work/model.diff" || exit {_NO_PATCH}',
            applied=shlex.quote(_APPLIED),
            started=shlex.quote(_STARTED),
            base=shlex.quote(self.base),
            files=shlex.join(files),
            command=_COMMANDS.get(self.repository, _PYTEST),
            targets=shlex.join(_list_targets(self.repository, files)),
        )
        limits = Limits(
            wall_s=setup.timeout_s,
            cpu_s=setup.timeout_s,
            memory_bytes=max(setup.memory_bytes, _MEMORY),
            disk_bytes=_DISK,
            processes=512,
            output_bytes=_OUTPUT,
        )
        patches = {"tests.diff": self.test_patch.encode()}
        if patch is not None:
            patches["model.diff"] = (patch + ("" if patch.endswith("\n") else "\n")).encode()
        return Program("bash", script, files=patches, limits=limits)


_NO_PATCH: Final = 91


def read_statuses(output: str) -> dict[str, bool]:
    """Return whether each test passed, from what its runner prints; the last word counts."""
    found: dict[str, bool] = {}
    for line in output.split("\n"):
        if match := _PYTEST_LINE.match(line):
            found[match[2]] = _STATUS[match[1]]
        elif (match := _UNITTEST_LINE.match(line)) or (match := _SYMPY_LINE.match(line)):
            found[match[1]] = _STATUS[match[2]]
    return found


def _has_no_test_results(ran: Execution) -> bool:
    """Whether the tests were started and none of them was reported."""
    _, mark, printed = ran.stdout.partition(_STARTED)
    return bool(mark) and ran.failure_class is not FailureClass.TIMEOUT and not read_statuses(printed)


def _evaluate_tests(name: str, tests: tuple[str, ...], statuses: Mapping[str, bool], wall_s: float) -> Graded:
    bad = [test for test in tests if not statuses.get(test)]
    if not bad:
        return PASSED
    what = "fails" if bad[0] in statuses else "did not run"
    return build_failed_grade(
        f"{name}: {len(bad)} of {len(tests)} do not pass; first: {bad[0]} {what}", None, wall_s
    )


def _list_targets(repository: str, files: list[str]) -> list[str]:
    tests = [file for file in files if file.endswith(".py")]
    if repository != "django/django":
        return tests
    return [test.removeprefix("tests/").removesuffix(".py").replace("/", ".") for test in tests]


def _describe_failure(image: str, stderr: str) -> str:
    return f"the image {image} cannot be used: {stderr.strip()[-300:] or '/testbed cannot be copied'}"
