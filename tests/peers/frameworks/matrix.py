"""Run each framework at its oldest and newest versions: `python -m tests.peers.frameworks.matrix [NAME…]`.

Installs the packages of each recording in `frameworks.yaml`, as their dependencies were on a day, into an
environment of its own under `.cache/frameworks`, runs `programs/NAME.py` there on a scripted model, or
`programs/NAME.mjs` where the packages are npm's, and compares spans and verdicts with those of
`tests/golden/frameworks/NAME.json`. Ends with 1 where one differs.
`--record` writes the golden instead, to be read by a person.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from tests.peers.frameworks.story import serve_model

from spanproof.trace import Span
from spanproof.trace.dialects import normalise_request
from spanproof.trace.otlp import read_file

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
GOLDEN = ROOT / "tests" / "golden" / "frameworks"
CACHE = ROOT / ".cache" / "frameworks"
NEEDED = yaml.safe_load((HERE / "frameworks.yaml").read_text())
RECORDINGS: dict[str, dict[str, Any]] = NEEDED["recordings"]

LAYERS = ("correctness", "boundary", "execution", "groundedness", "trajectory")
_RUN = "from story import record; from programs.{program} import run; record(run, {target!r})"


def make_environment(name: str) -> Path:
    """Install the packages of a recording and return the program that runs it: an interpreter, or `node`."""
    needed, folder = RECORDINGS[name], CACHE / name
    if "npm" in needed:
        packages = [*needed["npm"], *NEEDED["shared_npm"]]
        install = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error"]
        folder.mkdir(exist_ok=True)
        subprocess.run([*install, *packages], check=True, stdout=subprocess.DEVNULL)
        # A framework that needs a newer Node than the machine's has it among its packages.
        own = folder / "node_modules" / ".bin" / "node"
        return own if own.exists() else Path("node")
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder)
    # uv knows what a package's dependencies were on a day, which old versions need.
    day = str(needed.get("day", NEEDED["day"]))
    command = [_make_uv(), "pip", "install", "--quiet", "--python", python, "--exclude-newer", day]
    subprocess.run([*command, *needed["packages"], *NEEDED["shared"]], check=True)
    return python


def _make_uv() -> Path:
    """Install uv where it is not, and return its program."""
    folder = CACHE / "uv"
    if not (folder / "bin" / "uv").exists():
        venv.create(folder, with_pip=True)
        install = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", "uv"]
        subprocess.run([folder / "bin" / "python", *install], check=True)
    return folder / "bin" / "uv"


def run_program(name: str, interpreter: Path, target: Path) -> None:
    """Run the program of a recording by an interpreter that imports its framework, and write its spans."""
    needed = RECORDINGS[name]
    program = needed.get("program", name)
    environment = {**os.environ, **needed.get("environment", {})}
    if "npm" in needed:
        _run_module(interpreter, f"{program}.mjs", CACHE / name, target)
        return
    code = _RUN.format(program=program, target=str(target))
    subprocess.run(
        [interpreter, "-c", code], check=True, cwd=HERE, env=environment, stdout=subprocess.DEVNULL
    )


def _run_module(node: Path, program: str, folder: Path, target: Path) -> None:
    """Run a program of JavaScript beside its packages, where alone they are found."""
    for name in (program, "story.mjs"):
        shutil.copy(HERE / "programs" / name, folder)
    with serve_model() as port:
        url = f"http://127.0.0.1:{port}/v1"
        subprocess.run([node, folder / program, url, target], check=True, stdout=subprocess.DEVNULL)
    # A stack trace names folders of the machine that it was recorded on.
    text = target.read_text().replace(str(folder), "/shop").replace(f"127.0.0.1:{port}", "127.0.0.1:8000")
    target.write_text(text)


def describe_recording(path: Path) -> list[str]:
    """Return the tree of a file's spans, and the verdicts on its runs, without what is new each time."""
    children: dict[str, list[Span]] = {}
    spans = [span for request in read_file(path) for span in normalise_request(request)]
    own = {span.span_id for span in spans}
    for span in sorted(spans, key=lambda span: span.start_ns):
        parent = span.parent_id if span.parent_id in own else None
        children.setdefault(parent or "", []).append(span)
    return [*_draw_tree(children, "", 0), *_list_verdicts(path)]


def _draw_tree(children: dict[str, list[Span]], parent: str, depth: int) -> Iterator[str]:
    for span in children.get(parent, ()):
        call = f" calls {span.tool.name}({json.dumps(span.tool.arguments)})" if span.tool else ""
        failure = f" failed: {span.error.type}" if span.error else ""
        yield f"{'  ' * depth}{span.kind} {span.name}{call}{failure}"
        yield from _draw_tree(children, span.span_id, depth + 1)


def list_judged(path: Path) -> list[dict[str, str]]:
    """Return the state of each layer, for each run of a file."""
    command = [Path(sys.executable).with_name("spanproof"), "eval", "--json", path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    runs = [run for line in lines for run in json.loads(line)["runs"]]
    return [
        {score["name"]: score["state"] for score in run["scores"] if score["name"] in LAYERS} for run in runs
    ]


def _list_verdicts(path: Path) -> list[str]:
    return [
        "run: " + ", ".join(f"{layer} {states[layer]}" for layer in LAYERS if layer in states)
        for states in list_judged(path)
    ]


def compare_recording(name: str, recorded: Path) -> bool:
    """Return whether a recording holds what its golden holds, and print the difference."""
    expected, found = (describe_recording(path) for path in (GOLDEN / f"{name}.json", recorded))
    print(f"{name}: {'same' if found == expected else 'differs'}", flush=True)
    for line in difflib.unified_diff(expected, found, "golden", "recorded", lineterm="", n=1):
        print(f"  {line}")
    return found == expected


def main(arguments: list[str]) -> int:
    """Record the frameworks of these names and compare them; all where none is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*RECORDINGS, []], metavar="NAME")
    parser.add_argument("--record", action="store_true", help="write the goldens")
    options = parser.parse_args(arguments)
    CACHE.mkdir(parents=True, exist_ok=True)
    holds = []
    for name in options.names or RECORDINGS:
        python = make_environment(name)
        target = GOLDEN / f"{name}.json" if options.record else CACHE / f"{name}.json"
        run_program(name, python, target)
        if options.record:
            print(f"{name}: recorded", *describe_recording(target), sep="\n  ")
        else:
            holds.append(compare_recording(name, target))
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
