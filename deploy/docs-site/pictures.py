"""Take the pictures of the documentation: real runs of the demo's agents, in the real console.

    python deploy/docs-site/pictures.py [--out docs/images] [--directory DIR] [--runs 240] [--trials 3]

The agents run once; their traces are evaluated many times over, as of several releases, so that
there are rates.
A suite is promoted from the failing runs, and the bad agent and the mended one of the tutorial run on it.
`--directory` keeps them: `spanproof console --store DIR/store --workspace DIR/workspace`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from itertools import cycle
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from spanproof.api import ConsoleServer, ConsoleSettings
from spanproof.cli.input.trace_files import read_traces
from spanproof.evaluators.engine import Engine
from spanproof.gate import evaluate_assertions, parse_assertion
from spanproof.sandbox.registry import open_sandbox
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.store import Store, open_store
from spanproof.suites import promote_run
from spanproof.trace import Trace, trace_of

ROOT = Path(__file__).parents[2]
_DAY_NS = 24 * 3600 * 10**9
_LISTED = 500
_COLOURS = 256
_RELEASES = ("v10", "v11", "v12")
_MODELS = ("gpt-4o-2024-08-06", "claude-sonnet-4-5-20250929")
_CASES_FAILED = 1
_PATIENCE_MS = 180_000
_VIEWPORT = {"width": 1440, "height": 900}


def main() -> None:
    """Fill a store and a workspace, and take the pictures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    options.add_argument("--directory", type=Path)
    options.add_argument("--runs", type=int, default=240, help="of all releases together")
    options.add_argument("--trials", type=int, default=3, help="of each case of the suite")
    given = options.parse_args()
    folder = (given.directory or Path(tempfile.mkdtemp(prefix="pictures-"))).resolve()
    is_new = not (folder / "workspace").exists()
    with open_store(folder / "store") as store:
        if is_new:
            traces = collect_traces(folder)
            fill_store(store, traces, given.runs)
            fill_workspace(store, folder / "workspace", given.trials)
        take_pictures(store, folder / "workspace", given.out)


def collect_traces(folder: Path) -> list[Trace]:
    """Run the demo's agents and return their traces."""
    folder.mkdir(parents=True, exist_ok=True)
    bodies: list[bytes] = []
    with receive_spans(bodies) as endpoint:
        subprocess.run(
            [sys.executable, "-m", "spanproof.cli.demo.agents", "--endpoint", endpoint],
            check=True,
            cwd=folder,
        )
    found: dict[str, list[Trace]] = {}
    for number, body in enumerate(bodies):
        file = folder / f"spans-{number}.pb"
        file.write_bytes(body)
        for trace in read_traces(file)[0]:
            found.setdefault(trace.trace_id, []).append(trace)
    return [trace_of([span for part in parts for span in part.spans]) for parts in found.values()]


@contextmanager
def receive_spans(bodies: list[bytes]) -> Iterator[str]:
    """Receive OTLP over HTTP while the context is open; yields the endpoint."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def fill_store(store: Store, traces: Sequence[Trace], runs: int) -> None:
    """Evaluate the traces as of several releases over the last day; the newest one fails more often."""
    good = cycle([each for each in traces if _prompt_version(each) == "v1"])
    bad = cycle([each for each in traces if _prompt_version(each) == "v2"])
    now = time.time_ns() - 120 * 10**9
    with open_sandbox("jail") as sandbox:
        engine = Engine(pipeline=Pipeline(), sandbox=sandbox)
        evaluations = []
        for number in range(runs):
            age = (runs - 1 - number) * _DAY_NS // runs
            release = _RELEASES[number * len(_RELEASES) // runs]
            every = 4 if release == _RELEASES[-1] else 17
            is_bad = number % every == every - 1
            trace = next(bad if is_bad else good)
            evaluations.append(engine.evaluate(move_trace(trace, number, now - age, release)))
        store.write(evaluations)


def move_trace(trace: Trace, number: int, end_ns: int, release: str) -> Trace:
    """Return the trace as of another time, release and model, under another id."""
    shift = end_ns - max(span.end_ns for span in trace.spans)
    # Lists show the start of an id: it differs for each run, as that of a real one does.
    trace_id = blake2b(f"{trace.trace_id}{number}".encode(), digest_size=16).hexdigest()
    model = _MODELS[number % 3 // 2]
    return trace_of(
        [
            replace(
                span,
                trace_id=trace_id,
                start_ns=span.start_ns + shift,
                end_ns=span.end_ns + shift,
                model=model if span.model else span.model,
                resource={**span.resource, "service.version": release},
            )
            for span in trace.spans
        ]
    )


def _prompt_version(trace: Trace) -> str:
    found = (span.attributes.get("spanproof.cohort.prompt_version") for span in trace.spans)
    return str(next((each for each in found if each), ""))


def fill_workspace(store: Store, folder: Path, trials: int) -> None:
    """Promote runs into a suite, run the tutorial's agent on it, bad and mended, and write a gate report."""
    folder.mkdir(parents=True, exist_ok=True)
    suite = folder / "refunds"
    for trace_id in _kinds(store):
        evaluation = store.evaluation(trace_id)
        assert evaluation is not None, "the trace was listed"
        promote_run(evaluation, evaluation.runs[0].run.span_id, suite)
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    for name, answer in (("prompt-v2", "54.00"), ("prompt-v3", "45.00")):
        module = f"clerk_{name.replace('-', '_')}"
        (folder / f"{module}.py").write_text(code.replace("54.00", answer))
        done = subprocess.run(
            [sys.executable, "-m", "spanproof.cli", "suite", "run", str(suite),
             "--agent", f"{module}:make_agent", "--tools", "recorded", "--trials", str(trials),
             "--out", str(folder / "experiments" / name)],
            cwd=folder, check=False,
        )  # fmt: skip
        # Cases that fail are wanted here; any other end leaves the pictures without an experiment.
        if done.returncode not in (0, _CASES_FAILED):
            raise SystemExit(f"suite run ended with {done.returncode}")
    report = evaluate_assertions([parse_assertion(each) for each in _ASSERTIONS], store.scores())
    (folder / "gate.json").write_text(json.dumps(report.to_json()))


_ASSERTIONS = ("groundedness.score >= 0.85 for at_least 90% of cases", "boundary.score >= 0.5 for all cases")


def _kinds(store: Store) -> list[str]:
    """Return a trace of each kind: those of one task, agent and verdict are alike."""
    found: dict[object, str] = {}
    for row in store.traces(limit=_LISTED):
        run = row.runs[0]
        found.setdefault(
            (run.agent, *(str(getattr(each, "label", each)) for each in run.layers.values())), row.trace_id
        )
    return list(found.values())


def take_pictures(store: Store, workspace: Path, out: Path) -> None:
    """Write the pictures."""
    out.mkdir(parents=True, exist_ok=True)
    misquote = next(
        row for row in store.traces(failing=True, limit=_LISTED)
        if getattr(row.runs[0].layers.get("groundedness"), "value", 1) == 0
    )  # fmt: skip
    with (
        ConsoleServer(lambda: store, "127.0.0.1", 0, ConsoleSettings(workspace=workspace)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=_VIEWPORT, color_scheme="light")
        page.set_default_timeout(_PATIENCE_MS)

        def take(name: str, path: str) -> None:
            page.goto(server.url + path)
            settle(page)
            write_picture(page, out / f"console-{name}.png")

        take("overview", "/?by=release")
        take("traces", "/traces?q=label:fail%20since:24h")
        take("compare", "/compare?dimension=release&before=v11&after=v12&by=task&hours=24")
        take("suite", "/suites/refunds?baseline=experiments/prompt-v2")
        page.goto(f"{server.url}/traces/{misquote.trace_id}")
        settle(page)
        # The sentence, the claim and the output that contradicts it are in one picture.
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({**_VIEWPORT, "height": height})
        page.locator(".claim.contradicted").first.click()
        page.mouse.move(0, 0)
        write_picture(page, out / "console-trace.png")
        browser.close()


def write_picture(page: Page, file: Path) -> None:
    """Write what a page shows, in a palette: flat surfaces and text lose nothing by it."""
    shown = Image.open(BytesIO(page.screenshot())).convert("RGB")
    colours, places, counts = np.unique(
        np.asarray(shown).reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    # Surfaces keep their very colours. A word of a state is few pixels, and its colour is what the picture is
    # about: none is averaged away.
    surfaces = colours[np.argsort(-counts)[: _COLOURS // 2]]
    rare = shown.quantize(_COLOURS - len(surfaces), Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    palette = np.concatenate([surfaces, np.array(rare.getpalette(), dtype=np.uint8).reshape(-1, 3)])
    nearest = [np.argmin(((palette.astype(int) - colour) ** 2).sum(axis=1)) for colour in colours]
    indices = np.array(nearest, dtype=np.uint8)[places.reshape(-1)]
    picture = Image.frombytes("P", shown.size, indices.tobytes())
    picture.putpalette(palette.tobytes())
    picture.save(file, optimize=True)


def settle(page: Page) -> None:
    """Return when the page shows what it loaded."""
    page.wait_for_selector("main :not([aria-busy])")
    page.wait_for_selector("[aria-busy=true]", state="detached")


if __name__ == "__main__":
    main()
