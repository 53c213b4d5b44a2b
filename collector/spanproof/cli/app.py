"""The command tree, loaded lazily, and the one place where errors become messages and exit codes.

A command lives in a module of its own and is imported when it is called, so that `spanproof scan` does not
load the server. An expected error prints its message with the remedy and exits 2; anything else is a bug and
says how to report it.
"""

from __future__ import annotations

import difflib
import gc
import traceback
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import click

from spanproof.cli.exit_codes import EXIT_BROKEN_PIPE, EXIT_INTERRUPTED, EXIT_MISUSE, EXIT_PASS
from spanproof.cli.problems import ISSUES_URL, UsageProblem, find_problem

# Title of a group to its commands, in the order of the help: the module that holds `command`, one-line help.
_GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Start here": {
        "demo": ("spanproof.cli.demo", "Run real agents, evaluate their traces, and show the verdicts."),
        "serve": ("spanproof.cli.commands.serve", "Run the collector: OTLP in, scores out."),
        "eval": (
            "spanproof.cli.commands.evaluate",
            "Evaluate files of traces offline: OTLP, or other products' exports.",
        ),
        "traces": ("spanproof.cli.commands.traces", "List evaluated traces."),
        "show": ("spanproof.cli.commands.show", "Show one trace: the verdict, why, and the steps."),
        "doctor": (
            "spanproof.cli.commands.doctor",
            "Show what this machine can run, and how to get what is missing.",
        ),
    },
    "Receive and evaluate": {
        "pull": ("spanproof.cli.commands.pull", "Evaluate the traces that a product already has."),
        "connect": ("spanproof.cli.commands.connect", "Send scores to Phoenix, Langfuse, MLflow and others."),
        "rescore": (
            "spanproof.cli.commands.rescore",
            "Evaluate stored traces again with the current evaluators.",
        ),
        "retry": ("spanproof.cli.commands.retry", "Evaluate again what no attempt could evaluate."),
        "wal": ("spanproof.cli.commands.wal", "Check a write-ahead log, and save what a damaged one holds."),
        "database": (
            "spanproof.cli.commands.database",
            "Show the store's schema, back it up, delete traces from it.",
        ),
        "config": ("spanproof.cli.commands.config", "Check a configuration, show it, print the reference."),
        "mcp": ("spanproof.cli.mcp", "Serve traces, verdicts and suites to a coding agent over MCP."),
    },
    "Read verdicts": {
        "console": ("spanproof.cli.commands.console", "Show traces and verdicts in the browser."),
        "query": ("spanproof.cli.commands.query", "Count and measure a score by cohort and time."),
        "breakdown": ("spanproof.cli.commands.breakdown", "Count what happened to agents' code by cohort."),
        "failures": ("spanproof.cli.commands.failures", "Show the few causes behind many failed runs."),
        "session": ("spanproof.cli.commands.session", "Judge a conversation or a team of agents as a whole."),
        "prompts": ("spanproof.cli.commands.prompts", "List versions of prompts with their fail rates."),
        "report": ("spanproof.cli.commands.reports", "Report on many stored runs."),
        "sql": ("spanproof.cli.commands.sql", "Run a SELECT over the store, also while the collector runs."),
        "alerts": ("spanproof.cli.commands.alerts", "List alerts, silence and acknowledge them."),
    },
    "Improve and gate": {
        "promote": ("spanproof.cli.commands.promote", "Add stored runs to a suite, as hermetic cases."),
        "suite": ("spanproof.cli.commands.suite", "Replay a suite, run an agent on it, change its cases."),
        "gate": ("spanproof.cli.commands.gate", "Check assertions over scores; exit 1 when one fails."),
        "bench": ("spanproof.cli.commands.bench", "Grade answers to a public benchmark of code."),
        "optimise": ("spanproof.cli.commands.optimise", "Search a better prompt for an agent on a suite."),
        "judge": ("spanproof.cli.commands.judge", "Calibrate an LLM judge, and compare answers with it."),
    },
    "Code, sandbox and policy": {
        "scan": ("spanproof.cli.commands.scan", "Scan source code against a policy, without running it."),
        "detect": ("spanproof.cli.commands.detect", "Find code snippets in text."),
        "replay": ("spanproof.cli.commands.replay", "Replay runs; recorded results answer their tool calls."),
        "sandbox": ("spanproof.cli.commands.sandbox", "Run programs in the sandbox."),
        "policy": (
            "spanproof.cli.commands.policy",
            "What agents may do: presets, and a policy from your own traces.",
        ),
        "score": ("spanproof.cli.commands.score", "Score answers and trajectories without a trace."),
    },
}
_COMMANDS = {name: command for group in _GROUPS.values() for name, command in group.items()}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = _load_command(_COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(len(name) for name in _COMMANDS)
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), help_) for name, (_, help_) in commands.items()])


def _load_command(name: str) -> ModuleType:
    """Import a module of a command; hundreds come along, and none of what they make is garbage."""
    collected = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if collected:
            gc.enable()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="spanproof", prog_name="spanproof", message="%(prog)s %(version)s")
def app() -> None:
    """Evaluate production agent traces by running the agent's own code.

    Exit codes: 0 pass, 1 a gate failed, 2 misuse or an internal error, 130 ended by Ctrl-C, 141 the output
    was not read to its end.
    """


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; every error becomes one message here."""
    try:
        result = app.main(args=list(arguments), prog_name="spanproof", standalone_mode=False)
    except click.exceptions.Abort:
        return EXIT_INTERRUPTED
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as bare:
        bare.show()
        return EXIT_MISUSE
    except click.ClickException as problem:
        return _run_reported(_build_misuse_problem(problem))
    except (BrokenPipeError, SystemExit):
        # click itself exits, with 1, which here means that a gate failed, when its output is not read.
        return EXIT_BROKEN_PIPE
    except Exception as failure:  # noqa: BLE001 - the last frame before the user
        if _was_interrupted(failure):
            return EXIT_INTERRUPTED
        return _run_reported(find_problem(failure) or _build_bug_problem(failure))
    return result if isinstance(result, int) else EXIT_PASS


def _run_reported(problem: UsageProblem) -> int:
    from spanproof.cli.output.console import write_problem  # loads rich

    write_problem(problem)
    return EXIT_MISUSE


def _build_misuse_problem(problem: click.ClickException) -> UsageProblem:
    """Return what click reports, in the form of all our errors."""
    context = problem.ctx if isinstance(problem, click.UsageError) else None
    if context is None:
        return UsageProblem(problem.format_message())
    path = context.command_path.removeprefix("spanproof").strip()
    # click lists the values of a missing argument on lines of their own.
    message = " ".join(problem.format_message().split())
    what = f"{path}: {message}" if path else message
    if isinstance(context.command, click.Group) and not isinstance(problem, click.NoSuchOption):
        names = context.command.list_commands(context)
        near = difflib.get_close_matches(str(getattr(problem, "command_name", "")), names, n=1)
        if near and "Did you mean" not in what:
            meant = f"did you mean {near[0]!r}? "
        else:
            meant = ""
        return UsageProblem(what, f"{meant}the commands are: {', '.join(names)}")
    usage = " ".join(context.command.collect_usage_pieces(context))
    reads_rows = any("--jsonl" in parameter.opts for parameter in context.command.params)
    if reads_rows:
        rows = f"rows come from stdin: {context.command_path} --jsonl < rows.jsonl; "
    else:
        rows = ""
    return UsageProblem(what, f"{context.command_path} {usage}; {rows}add --help to see the options")


def _was_interrupted(bug: BaseException) -> bool:
    """Return whether Ctrl-C caused it: a package interrupted while it loads may raise something else."""
    cause: BaseException | None = bug
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _build_bug_problem(bug: Exception) -> UsageProblem:
    where = traceback.extract_tb(bug.__traceback__)[-1]
    return UsageProblem(
        f"internal error: {type(bug).__name__}: {bug}",
        f"please report it at {ISSUES_URL} with the command you ran; it was raised in {where.name}"
        f" ({where.filename.rsplit('/', 1)[-1]}:{where.lineno})",
    )
