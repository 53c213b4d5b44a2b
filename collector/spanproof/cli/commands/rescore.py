"""`spanproof rescore`: judge stored traces again, with the evaluators and the policy of today.

Comes in: a store and a window of time. Goes out: new scores in the same store. A new version of an evaluator
stands beside the old, which stays as history; the same version writes what it wrote before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from spanproof.cli import EXIT_PASS
from spanproof.cli.commands.config import config_option, read_config, set_option
from spanproof.cli.commands.evaluate import opened_engine, tell_silent
from spanproof.cli.console import console, print_json, progress
from spanproof.cli.report import is_own, verdict_word
from spanproof.cli.stored import counted, opened_store, since_ns, since_option, store_option
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.rescore import rescored
from spanproof.store import Store
from spanproof.trace import Layer

_BATCH = 128
_MOST = 1_000_000


@click.command()
@store_option
@since_option
@click.option("--project", help="Only traces of this project.")
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.Choice([layer.value for layer in Layer]),
    help="Only this layer; may be given several times. All when not given.",
)
@config_option
@set_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
def command(
    location: str,
    since: str | None,
    project: str | None,
    layers: tuple[str, ...],
    file: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> int:
    """Judge stored traces again, with the evaluators and the policy of today.

    Layers that are not asked keep their scores; scores of an older version of an evaluator stay as history.
    """
    config = read_config(file, settings)
    chosen = tuple(Layer(layer) for layer in layers) or config.evaluation.layers
    asked = config.evaluation.model_copy(update={"layers": chosen})
    asking = config.model_copy(update={"evaluation": asked})
    changes: Counter[str] = Counter()
    traces = 0
    given: set[str] = set()
    # What is asked may need no code to run: then no sandbox is started.
    with (
        opened_engine(asking, workers=config.sandbox.workers, probe=False) as engine,
        opened_store(location, writing=True) as store,
        progress(as_json=as_json) as bar,
    ):
        ids = store.trace_ids(limit=_MOST, project=project, since_ns=since_ns(since))
        task = bar.add_task("scoring again", total=len(ids))
        for before, after in _rescored(store, engine, ids, chosen, config):
            traces += 1
            given |= {score.name for score in after.scores}
            changed = _changes(before, after)
            changes.update(changed)
            bar.advance(task)
            if as_json:
                print_json({"trace_id": after.trace.trace_id, "changes": changed})
    if given:
        tell_silent(asking, given)
    if not as_json:
        console.print(f"{counted(traces, 'trace')} scored again on {', '.join(chosen)}")
        for change, number in sorted(changes.items()):
            console.print(f"  {change}: {number}")
    return EXIT_PASS


def _rescored(
    store: Store, engine: Engine, ids: Sequence[str], layers: Sequence[Layer], config: Config
) -> Iterator[tuple[TraceEvaluation, TraceEvaluation]]:
    """Each trace as it was and as it is now, once it is stored."""
    with ThreadPoolExecutor(config.evaluation.workers) as pool:
        for first in range(0, len(ids), _BATCH):
            stored = store.evaluations(ids[first : first + _BATCH])
            fresh = list(pool.map(lambda each: rescored(engine, each, layers), stored))
            store.write(fresh)
            yield from zip(stored, fresh, strict=True)


def _changes(before: TraceEvaluation, after: TraceEvaluation) -> list[str]:
    """Layers, and own evaluators, whose verdict is another now: `groundedness pass → fail`."""
    was = _verdicts(before)
    return [
        f"{name} {was.get((span, name), 'none')} → {verdict}"
        for (span, name), verdict in _verdicts(after).items()
        if was.get((span, name)) != verdict
    ]


def _verdicts(evaluation: TraceEvaluation) -> dict[tuple[str, str], str]:
    """`pass`, `fail`, `skipped` … by span and layer, or own evaluator."""
    return {
        (score.span_id, score.name): verdict_word(score.outcome)
        for score in evaluation.scores
        if score.name == score.layer.value or is_own(score)
    }
