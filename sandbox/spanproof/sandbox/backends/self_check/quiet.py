"""Promises about what is not reported: what a runtime does by itself is no attempt of the program.

See `promises`, which has them among all others.
"""

from __future__ import annotations

from collections.abc import Callable

from spanproof.sandbox.backend import Evidence, Sandbox
from spanproof.sandbox.backends.self_check.promise import PATIENT, Promise, check_holds
from spanproof.sandbox.model import (
    Database,
    DatabaseEngine,
    FailureClass,
    Fixtures,
    Program,
    SessionSpec,
    ToolAnswer,
    ToolRequest,
)

_PYTHON = "import asyncio, json, ssl, sqlite3, tempfile, urllib.request, uuid\nprint(tempfile.mkdtemp() > '')"
_PROGRAMS = {
    "python": (_PYTHON,),
    "bash": ('x=$(echo 1); [[ $x = 1 ]] && printf \'%s\\n\' "$x" > f; read -r y < f; echo ~ "$y"',),
    "sql": ("SELECT 1",),
    "javascript": (
        "require('node:os').version(); console.log(require(process.cwd() + '/own.js').x)",
        "import os from 'node:os'; console.log((await import(process.cwd() + '/own.js')).default.x)",
        "try { require('no-such-package') } catch { fetch('data:,x').then(() => console.log(1)) }",
    ),
    "typescript": ("enum A { B }; const x: number = require(process.cwd() + '/own.js').x; console.log(x)",),
}
_OWN = {"own.js": b"exports.x = 1"}


def _build_quiet_check(*programs: Program) -> Callable[[Sandbox], None]:
    def verify(sandbox: Sandbox) -> None:
        for program in programs:
            execution = sandbox.run(program)
            check_holds(execution.failure_class is FailureClass.OK, (program.source, execution))
            check_holds(execution.attempts == (), (program.source, execution))

    return verify


def _check_quiet_session(sandbox: Sandbox) -> None:
    with sandbox.session(SessionSpec(limits=PATIENT), _handle_tool) as session:
        for source in (_PYTHON, "x = 1\nx"):
            execution = session.execute(source)
            check_holds(execution.failure_class is FailureClass.OK and execution.attempts == (), execution)


def _handle_tool(request: ToolRequest) -> ToolAnswer:
    return ToolAnswer(error_type="LookupError", error_message=request.tool)


_DUCKDB = Program(
    "sql", "SELECT 1", limits=PATIENT, fixtures=Fixtures(database=Database(engine=DatabaseEngine.DUCKDB))
)

QUIET: tuple[Promise, ...] = (
    *(
        Promise(
            f"quiet {language}",
            f"what starting {language} takes is no attempt",
            language,
            _build_quiet_check(
                *(Program(language, source, files=_OWN, limits=PATIENT) for source in sources)
            ),
            Evidence.ATTEMPTS,
        )
        for language, sources in _PROGRAMS.items()
    ),
    Promise(
        "quiet duckdb",
        "what starting duckdb takes is no attempt",
        "sql",
        _build_quiet_check(_DUCKDB),
        Evidence.ATTEMPTS,
    ),
    Promise(
        "quiet session",
        "what starting a session takes is no attempt",
        "python",
        _check_quiet_session,
        Evidence.ATTEMPTS,
    ),
)
"""In the order they are checked."""
