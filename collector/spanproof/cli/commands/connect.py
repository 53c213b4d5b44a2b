"""`spanproof connect`: have the collector send scores to a product, once it is known that it takes them.

Comes in: the product, its address and project. Goes out: an entry of `sinks` in the configuration file, and
what answers. Keys are read from the product's own variables and are never written into the file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import click
import yaml
from pydantic import ValidationError

from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.config import build_mistakes_problem, load_checked
from spanproof.cli.output.console import console, write_json
from spanproof.cli.problems import UsageProblem, build_page_url
from spanproof.collector.sinks.http import NotThere, Refused, Unavailable
from spanproof.collector.sinks.products import ADAPTERS, open_client
from spanproof.config.model import Config, ConfigError
from spanproof.config.sinks import Sink, SinkKind
from spanproof.evaluators.invalid import describe_error


@click.command("connect")
@click.argument("kind", metavar="PRODUCT", type=click.Choice([kind.value for kind in SinkKind]))
@click.option("--url", help="Base URL of the product. By default the product's own.")
@click.option("--project", help="Braintrust: the project's id; Weave: entity/project; Datadog: the ml_app.")
@click.option(
    "--scores",
    type=click.Choice(["layers", "all"]),
    default="layers",
    show_default=True,
    help="What is sent: the value of each layer, or sub-scores and metrics as well.",
)
@click.option("--name", help="Name of the sink; needed where a product has several.")
@click.option(
    "--config",
    "file",
    envvar="SPANPROOF_CONFIG",
    show_envvar=True,
    type=click.Path(path_type=Path),
    default=Path("spanproof.yaml"),
    show_default=True,
    help="The file to change; created where it does not exist.",
)
@click.option("--no-check", is_flag=True, help="Write without a request to the product.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    kind: str,
    url: str | None,
    project: str | None,
    scores: str,
    name: str | None,
    file: Path,
    no_check: bool,
    as_json: bool,
) -> int:
    """Send scores to a product that has the traces.

    Checks that the product answers and accepts the key, then adds a sink to the configuration file. Keys
    come from the product's variables, such as LANGFUSE_SECRET_KEY, and are not written. Exit code 2 where
    something is wrong; the file is unchanged then.
    """
    options = {"kind": kind, "name": name, "url": url, "project": project}
    entry = {key: value for key, value in options.items() if value is not None}
    if scores != "layers":
        entry["scores"] = scores
    sink = build_sink(entry)
    answer = None if no_check else _fetch_check(sink)
    _write_entry(file, entry, sink.label)
    if as_json:
        write_json({"file": str(file), "sink": entry, "answer": answer})
        return EXIT_PASS
    if answer is not None:
        console.print(answer)
    console.print(f"{file}: sink {sink.label} is added; `spanproof serve --config {file}` sends to it")
    return EXIT_PASS


def build_sink(entry: dict[str, str]) -> Sink:
    """Return the sink of an entry, or raise UsageProblem with what is wrong with it."""
    try:
        return Sink.model_validate(entry)
    except ValidationError as invalid:
        faults = "; ".join(describe_error(mistake) for mistake in invalid.errors(include_url=False))
        raise UsageProblem(f"{entry['kind']}: {faults}", f"see {build_page_url('sinks')}") from invalid


def check_keys(sink: Sink) -> None:
    """Raise UsageProblem where the variables with the product's keys are not set."""
    if missing := sink.list_missing_keys():
        raise UsageProblem(
            f"{sink.kind}: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set",
            f"export {' '.join(f'{name}=…' for name in missing)}",
        )


def _fetch_check(sink: Sink) -> str:
    check_keys(sink)
    try:
        with open_client(sink) as client:
            return ADAPTERS[sink.kind](sink).fetch_status(client)
    except (Unavailable, Refused, NotThere) as problem:
        raise UsageProblem(
            f"{sink.kind} at {sink.base_url}: {problem}",
            "check the URL, the project and the key; --no-check writes the entry all the same",
        ) from problem


def _write_entry(file: Path, entry: dict[str, str], label: str) -> None:
    """Add the entry to the file, which is replaced in one step once it is known to be valid."""
    try:
        before = file.read_text(encoding="utf-8") if file.exists() else ""
    except UnicodeDecodeError as odd:
        raise UsageProblem(f"{file} is not UTF-8 text", "name another file") from odd
    if before and any(sink.label == label for sink in _load_config(file, file).sinks):
        raise UsageProblem(
            f"{file} has a sink named {label} already",
            "Give another --name, or take that sink out of the file.",
        )
    after = format_with_sink(before, entry, file)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        fresh.write_text(after, encoding="utf-8")
        if file.exists():
            fresh.chmod(file.stat().st_mode & 0o777)
        _load_config(fresh, file)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def _load_config(file: Path, shown: Path) -> Config:
    try:
        return load_checked(file, {}, {})
    except ConfigError as wrong:
        problem = build_mistakes_problem(wrong)
        raise UsageProblem(problem.what.replace(str(file), str(shown)), problem.remedy) from wrong


def format_with_sink(text: str, entry: dict[str, str], file: Path) -> str:
    """Return the text of a configuration with an entry more in `sinks`; everything else stays as it is.

    Raises:
        UsageProblem: `sinks` is not written as a list with a line for each item.
    """
    item = str(yaml.safe_dump([entry], sort_keys=False, allow_unicode=True)).splitlines()
    root = yaml.compose(text, Loader=yaml.SafeLoader) if text.strip() else None
    if root is not None and (not isinstance(root, yaml.MappingNode) or root.flow_style):
        raise _build_add_problem(file, item)
    found = [value for key, value in (root.value if root else ()) if key.value == "sinks"]
    if not found:
        return f"{text.rstrip()}\n\nsinks:\n".lstrip("\n") + "".join(f"  {line}\n" for line in item)
    sinks = found[0]
    if not isinstance(sinks, yaml.SequenceNode) or sinks.flow_style or not sinks.value:
        raise _build_add_problem(file, item)
    lines = text.splitlines(keepends=True)
    # A mark is behind the dash of its item; a dash on a line of its own is above it.
    at = sinks.start_mark.line
    dash = re.match(r"(\s*)-", lines[at])
    if dash is None:
        raise _build_add_problem(file, item)
    added = [f"{dash[1]}{line}\n" for line in item]
    return "".join([*lines[:at], *added, *lines[at:]])


def _build_add_problem(file: Path, item: list[str]) -> UsageProblem:
    shown = "\n    ".join(["sinks:", *(f"  {line}" for line in item)])
    return UsageProblem(f"{file}: its `sinks` cannot be added to", f"add this by hand:\n    {shown}")
