"""Cases out of a repository's history: bug-fix commits that came with a test.

The task is what the commit says, the files are those before it, and the hidden tests are the test functions
that it brought. A case is kept where the sandbox shows that these tests fail before the commit and pass after
it. Git only reads: nothing of the repository runs outside the sandbox, and no hook runs at all.
"""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import ValidationError

from spanproof.evaluators.casetests import FIND_MODULES, CaseTests
from spanproof.sandbox import Execution, FailureClass, Limits, Program, Sandbox
from spanproof.suites.case import Case
from spanproof.suites.environment import KEY as ENVIRONMENT_KEY
from spanproof.suites.environment import compute_environment_digest
from spanproof.suites.errors import SuiteError

_FIX = re.compile(
    r"\b(fix(e[sd])?|bug|bugfix|regression|resolve[sd]?|close[sd]? #\d+|correct(s|ed)?)\b", re.IGNORECASE
)
_MAX_FILES: Final = 400
_MAX_BYTES: Final = 2 * 1024 * 1024
_MAX_MESSAGE: Final = 200  # characters: a line of a terminal
_STOPPED: Final = frozenset((FailureClass.TIMEOUT, FailureClass.OUT_OF_MEMORY, FailureClass.KILLED))
_TEST_NAME = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")


@dataclass(frozen=True, slots=True)
class Mined:
    """The result for one bug-fix commit.

    Attributes:
        case: None where it gives none.
        reason: why it gives none, as a sentence; empty where it does.
    """

    commit: str
    subject: str
    case: Case | None = None
    reason: str = ""


def iter_mined(repository: Path, sandbox: Sandbox, *, since: str = "", limit: int = 100) -> Iterator[Mined]:
    """Yield the result for each bug-fix commit with a test, newest first.

    Args:
        repository: a Git working tree, or a bare repository.
        sandbox: runs the tests before and after.
        since: only commits after this, as `git log --since` takes it.
        limit: how many of these commits are looked at.

    Raises:
        SuiteError: it is no repository, or Git is not installed.
    """
    words = ["log", "--no-merges", "--format=%H%x00%P%x00%B%x01", *([f"--since={since}"] if since else [])]
    looked_at, environment = 0, compute_environment_digest(sandbox)
    for entry in _read_git_output(repository, *words).split("\x01"):
        commit, _, rest = entry.strip().partition("\0")
        parents, _, message = rest.partition("\0")
        if len(parents.split()) != 1 or not _FIX.search(message):
            continue
        changed = _read_git_output(
            repository, "diff", "--name-only", "--diff-filter=AM", "-z", parents, commit
        ).split("\0")
        tests = [name for name in changed if _TEST_NAME.search(name)]
        code = [name for name in changed if name.endswith(".py") and not _TEST_NAME.search(name)]
        if not tests or not code:
            continue
        looked_at += 1
        if looked_at > limit:
            return
        yield _evaluate_commit(repository, sandbox, (parents, commit), message.strip(), tests, environment)


def _evaluate_commit(
    repository: Path,
    sandbox: Sandbox,
    commits: tuple[str, str],
    message: str,
    tests: list[str],
    environment: str,
) -> Mined:
    parent, commit = commits
    subject = message.partition("\n")[0]
    brought = [
        part
        for name in tests
        if (
            part := build_test_text(
                _fetch_file(repository, commit, name), _fetch_file(repository, parent, name)
            )
        )
    ]
    if not brought:
        return Mined(commit, subject, reason="it brings no test")
    unit = "\n\n".join(brought)
    before = _find_tree(repository, parent)
    if before is None:
        return Mined(
            commit, subject, reason=f"the repository has more than {_MAX_FILES} files or 2 MiB of text"
        )
    after = _find_tree(repository, commit) or {}
    ran_before, ran_after = _run_tests(sandbox, before, unit), _run_tests(sandbox, after, unit)
    if not _is_passing(ran_after):
        why = _describe_unpassed(ran_after)
        return Mined(commit, subject, reason=f"its tests do not pass in the sandbox after it: {why}")
    if _is_passing(ran_before):
        return Mined(commit, subject, reason="its tests pass before it, too")
    if ran_before.failure_class in _STOPPED:
        return Mined(
            commit, subject, reason=f"its tests do not end before it: {ran_before.failure_class.value}"
        )
    files = {name: text for name, text in before.items() if not _TEST_NAME.search(name)}
    slug = re.sub(r"[^a-z0-9]+", "-", subject.lower())[:40].strip("-")
    try:
        hidden = CaseTests.model_validate({"unit": unit, "files": files})
    except ValidationError as problem:
        return Mined(commit, subject, reason=f"its tests cannot be kept: {problem.errors()[0]['msg']}")
    return Mined(
        commit,
        subject,
        Case(
            id=f"{slug or 'fix'}-{commit[:12]}",
            task=message,
            files=files,
            tests=hidden,
            tags=("mined",),
            source={"form": "git", "id": commit, "parent": parent, ENVIRONMENT_KEY: environment},
        ),
    )


def build_test_text(now: str, before: str) -> str:
    """Return the imports and helpers of a test file, and of its tests those that are new or changed.

    Without any test the text is empty.
    """
    try:
        tree, old = ast.parse(now), ast.parse(before)
    except SyntaxError:
        return ""
    old_nodes = {ast.dump(node) for node in old.body}
    kept: list[ast.stmt] = []
    found = False
    for node in tree.body:
        is_test = (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name[:4].lower() == "test"
        )
        if not is_test:
            kept.append(node)
        elif ast.dump(node) not in old_nodes:
            kept.append(node)
            found = True
    return "\n".join(ast.unparse(node) for node in kept) if found else ""


def _run_tests(sandbox: Sandbox, files: Mapping[str, str], unit: str) -> Execution:
    return sandbox.run(
        Program(
            "python",
            FIND_MODULES,
            tests=unit,
            files={name: text.encode() for name, text in files.items()},
            limits=Limits(wall_s=30.0, cpu_s=30.0),
        )
    )


def _is_passing(ran: Execution) -> bool:
    """Whether there were tests, and each passed."""
    is_ok = ran.failure_class is FailureClass.OK
    return is_ok and bool(ran.tests_total) and ran.tests_passed == ran.tests_total


def _describe_unpassed(ran: Execution) -> str:
    """Return how many tests passed, or what kept them from running."""
    if ran.tests_total:
        return f"{ran.tests_passed or 0} of {ran.tests_total} passed"
    if ran.raised is not None:
        return f"{ran.raised.type}: {ran.raised.message:.{_MAX_MESSAGE}}"
    return ran.reason or ran.failure_class.value


def _find_tree(repository: Path, commit: str) -> dict[str, str] | None:
    """Return the text files of a commit by path; None where they are too many or too large."""
    names = [
        name
        for name in _read_git_output(repository, "ls-tree", "-r", "--name-only", "-z", commit).split("\0")
        if name
    ]
    if len(names) > _MAX_FILES:
        return None
    names = [name for name in names if ".." not in PurePosixPath(name).parts and "\n" not in name]
    found: dict[str, str] = {}
    size = 0
    for name, content in zip(names, _iter_blobs(repository, commit, names), strict=True):
        size += len(content)
        if size > _MAX_BYTES:
            return None
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if text and "\0" not in text:
            found[name] = text
    return found


def _iter_blobs(repository: Path, commit: str, names: list[str]) -> Iterator[bytes]:
    """Yield the content of each file at a commit, by one process of Git; empty where there is none."""
    requested = "".join(f"{commit}:{name}\n" for name in names).encode()
    rest = io.BytesIO(_run_git(repository, "cat-file", "--batch", stdin=requested).stdout)
    for _ in names:
        # `<object> blob <size>`, or `<what was named> missing`.
        *_, kind, size = rest.readline().decode("utf-8", "replace").rsplit(" ", 2)
        is_there = size.strip().isdigit()
        content = rest.read(int(size)) if is_there else b""
        rest.read(1 if is_there else 0)
        yield content if kind == "blob" else b""


def _fetch_file(repository: Path, commit: str, name: str) -> str:
    """Return a file at a commit; empty where it is not there or is no text."""
    ran = _run_git(repository, "show", f"{commit}:{name}")
    if ran.returncode:
        return ""
    try:
        return ran.stdout.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _read_git_output(repository: Path, *words: str) -> str:
    ran = _run_git(repository, *words)
    if ran.returncode:
        why = ran.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise SuiteError(f"{repository}: git {words[0]} fails: {why}")
    return ran.stdout.decode("utf-8", "replace")


def _run_git(repository: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    # Neither the repository's configuration nor its attributes may start a program.
    safe = ["-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "diff.external="]
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat"}
    if words[0] in ("show", "diff", "log"):
        flags = ["--no-ext-diff", "--no-textconv"]
    else:
        flags = []
    command = ["git", *safe, "-C", str(repository), words[0], *flags, *words[1:]]
    try:
        return subprocess.run(command, input=stdin, capture_output=True, env=environment, check=False)
    except FileNotFoundError as problem:
        raise SuiteError("git is not installed: `suite mine` reads a repository with it") from problem
