"""The options of `suite run` that name an agent, and how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from spanproof.cli.problems import UsageProblem
from spanproof.experiments import (
    AgentUnderTest,
    Continuation,
    Settings,
    Tools,
    build_module_agent,
    build_program_agent,
    build_service_agent,
)
from spanproof.experiments.notebook import get_new_folder

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What the options say; without an agent the others have no meaning.

    Attributes:
        folder: where the results are written.
        baseline: folder of the experiment to compare with.
        quarantine: whether cases that are flaky in both do not decide.
        send_to: base URL of the collector that gets the trials' traces.
        rescore: folder of the experiment whose trials are judged again; no agent is run then.
        continuation: what becomes of the trials that the folder holds.
    """

    agent: AgentUnderTest | None
    settings: Settings
    folder: Path
    baseline: Path | None
    quarantine: bool
    send_to: str | None
    rescore: Path | None
    continuation: Continuation = Continuation.CHANGED


_DEFAULTS = Settings()
_OPTIONS = (
    click.option(
        "--agent", metavar="MODULE:NAME", help="Run this agent, or the agent that this function creates."
    ),
    click.option("--command", metavar="LINE", help="Run this program: task on stdin, answer on stdout."),
    click.option("--image", help="With --command: run the program in a container of this local image."),
    click.option("--url", help="Run the agent behind this URL: POST {task}, the answer in the response."),
    click.option(
        "--tools",
        type=click.Choice([tool.value for tool in Tools]),
        default=_DEFAULTS.tools.value,
        show_default=True,
        help="Call the agent's tools, or return the results recorded in the case.",
    ),
    click.option(
        "--unknown-calls",
        type=click.Choice(["refuse", "live"]),
        default="refuse",
        show_default=True,
        help="With --tools recorded: what happens to a call that the case does not record.",
    ),
    click.option(
        "--trials",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="Runs of the agent per case.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1, 64),
        default=_DEFAULTS.jobs,
        show_default=True,
        help="Trials that run at once.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the experiment."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        default=_DEFAULTS.timeout_s,
        show_default=True,
        help="Seconds for one trial.",
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1), help="Start no further trial once this many tokens are used."
    ),
    click.option(
        "--max-cost",
        type=click.FloatRange(min=0.0),
        help="Start no further trial once this many US dollars are spent.",
    ),
    click.option(
        "--listen-port",
        type=click.IntRange(0, 65535),
        default=_DEFAULTS.listen_port,
        show_default=True,
        help="Port of 127.0.0.1 to which a service (--url) sends its spans.",
    ),
    click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of the results. Trials in it are reused if nothing that they depend on has changed."
        "  [default: a new one below .spanproof/experiments]",
    ),
    click.option(
        "--resume", is_flag=True, help="Continue the experiment in --out; refuse if something has changed."
    ),
    click.option("--fresh", is_flag=True, help="Remove the experiment in --out, and start anew."),
    click.option(
        "--baseline",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of an earlier experiment to compare with.",
    ),
    click.option(
        "--quarantine-flaky",
        is_flag=True,
        help="Let cases that are also flaky in the baseline decide nothing.",
    ),
    click.option(
        "--rescore",
        type=click.Path(path_type=Path, file_okay=False),
        help="Judge the trials of this experiment again, without running the agent.",
    ),
    click.option("--send-to", metavar="URL", help="Also send the traces of the trials to this collector."),
)


def with_agent_options(command: Command) -> Command:
    """Give a command the options of an agent; it gets them as one argument, `trials`.

    Raises:
        UsageProblem: more than one agent is given, or options of an agent without one.
    """

    @wraps(command)
    def with_options(*args: Any, **values: Any) -> Any:
        names = [option for option in ("agent", "command", "url") if values[option] is not None]
        if len(names) > 1:
            raise UsageProblem(f"--{names[0]} is given with --{names[1]}", "Name one agent.")
        image = values.pop("image")
        if image is not None and names != ["command"]:
            raise UsageProblem("--image is given without --command", "A container runs a program: name it.")
        options = AgentOptions(
            agent=_find_agent(values.pop("agent"), values.pop("command"), values.pop("url"), image or ""),
            settings=Settings(
                trials=values.pop("trials"),
                jobs=values.pop("jobs"),
                seed=values.pop("seed"),
                timeout_s=values.pop("timeout"),
                tools=Tools(values.pop("tools")),
                refuse_unknown=values.pop("unknown_calls") == "refuse",
                listen_port=values.pop("listen_port"),
                max_tokens=values.pop("max_tokens"),
                max_cost_usd=values.pop("max_cost"),
            ),
            continuation=_get_continuation(
                values["out"], resume=values.pop("resume"), fresh=values.pop("fresh")
            ),
            folder=values.pop("out") or get_new_folder(),
            baseline=values.pop("baseline"),
            quarantine=values.pop("quarantine_flaky"),
            send_to=values.pop("send_to"),
            rescore=values.pop("rescore"),
        )
        if options.rescore is not None:
            _check_rescore(options)
        elif options.agent is None and (options.settings != _DEFAULTS or options.baseline or options.send_to):
            raise UsageProblem(
                "there is no agent to run: frozen runs are judged again, once and offline",
                "Name the agent: --agent package.module:name, --command LINE or --url URL.",
            )
        return command(*args, trials=options, **values)

    decorated: Any = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _get_continuation(out: Path | None, *, resume: bool, fresh: bool) -> Continuation:
    if resume and fresh:
        raise UsageProblem("--resume is given with --fresh", "Go on, or start anew: give one of both.")
    if resume and out is None:
        raise UsageProblem("--resume has no experiment to go on with", "Give --out FOLDER of the one before.")
    if fresh:
        return Continuation.FRESH
    if resume:
        return Continuation.RESUME
    return Continuation.CHANGED


def _check_rescore(options: AgentOptions) -> None:
    allowed = replace(_DEFAULTS, jobs=options.settings.jobs)
    if options.agent is not None or options.settings != allowed or options.baseline:
        raise UsageProblem(
            "--rescore runs no agent, and compares with the experiment that it names",
            "Leave out the agent, --baseline, and the options of how it is run.",
        )


def _find_agent(
    module: str | None, command: str | None, url: str | None, image: str
) -> AgentUnderTest | None:
    if module is not None:
        return build_module_agent(module)
    if command is not None:
        return build_program_agent(command, image)
    return build_service_agent(url) if url is not None else None
