"""`spanproof rescore`: evaluate stored traces again, with the current evaluators and policy.

Comes in: a store and a window of time. Goes out: new scores in the same store. Scores of a new
version of an evaluator are added to those of the old, which stay as history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat

import click

from spanproof.cli.engine import opened_engine, write_silent_evaluators
from spanproof.cli.exit_codes import EXIT_PASS
from spanproof.cli.options.config import with_config_options
from spanproof.cli.options.store import StoreQuery, opened_store, with_store_query_options
from spanproof.cli.output.console import build_progress, console, write_json
from spanproof.cli.output.verdicts import is_own
from spanproof.cli.output.words import format_count
from spanproof.config.model import Config
from spanproof.evaluators.engine import Engine
from spanproof.evaluators.model import TraceEvaluation
from spanproof.evaluators.rescore import evaluate_again
from spanproof.evaluators.scores import find_state
from spanproof.store import Store
from spanproof.trace import Layer

_BATCH = 128
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class _Change:
    """A verdict that is another than before.

    Attributes:
        name: of the layer or of the user's evaluator.
        before, after: states; `none` where there was no such score, `advice` where it has no verdict.
    """

    name: str
    before: str
    after: str

    @property
    def states(self) -> str:
        """Both states: `pass → open`."""
        return f"{self.before} → {self.after}"

    def __str__(self) -> str:
        return f"{self.name} {self.states}"


@click.command()
@with_store_query_options
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.Choice([layer.value for layer in Layer]),
    help="Only this layer; may be given several times. By default all layers.",
)
@with_config_options
@click.option("--json", "as_json", is_flag=True, help="One JSON line per trace on stdout.")
def command(query: StoreQuery, layers: tuple[str, ...], config: Config, as_json: bool) -> int:
    """Evaluate stored traces again with the current evaluators.

    Layers that are not chosen keep their scores; scores of an older version of an evaluator stay as history.
    """
    chosen = tuple(Layer(layer) for layer in layers) or config.evaluation.layers
    evaluation = config.evaluation.model_copy(update={"layers": chosen})
    narrowed = config.model_copy(update={"evaluation": evaluation})
    changes: Counter[_Change] = Counter()
    traces = 0
    score_names: set[str] = set()
    # The chosen layers may need no code to run: then no sandbox is started.
    with (
        opened_engine(narrowed, workers=config.sandbox.workers, probe=False) as engine,
        opened_store(query.location, writing=True) as store,
        build_progress(as_json=as_json) as bar,
    ):
        ids = store.trace_ids(limit=_MOST, project=query.project, since_ns=query.since_ns)
        task = bar.add_task("scoring again", total=len(ids))
        for before, after in _iter_rescored(store, engine, ids, query.project, chosen, config):
            traces += 1
            score_names |= {score.name for score in after.scores}
            changed = _list_changes(before, after)
            changes.update(changed)
            bar.advance(task)
            if as_json:
                write_json(
                    {
                        "trace_id": after.trace.trace_id,
                        "state": after.state.value,
                        "state_before": before.state.value,
                        "changes": [str(change) for change in changed],
                    }
                )
    write_silent_evaluators(narrowed, score_names)
    if not as_json:
        console.print(f"{format_count(traces, 'trace')} scored again on {', '.join(chosen)}")
        _write_changes(changes)
    return EXIT_PASS


def _write_changes(changes: Counter[_Change]) -> None:
    """Print `3 verdicts changed: 2 pass → open, 1 open → fail`, then how many of each layer and evaluator."""
    if not changes:
        console.print("no verdict changed")
        return
    by_states: Counter[str] = Counter()
    for change, number in changes.items():
        by_states[change.states] += number
    parts = ", ".join(f"{number:,} {states}" for states, number in by_states.most_common())
    console.print(f"{format_count(changes.total(), 'verdict')} changed: {parts}")
    for change, number in sorted(changes.items(), key=lambda item: str(item[0])):
        console.print(f"  {change}: {number:,}")


def _iter_rescored(
    store: Store,
    engine: Engine,
    ids: Sequence[str],
    project: str | None,
    layers: Sequence[Layer],
    config: Config,
) -> Iterator[tuple[TraceEvaluation, TraceEvaluation]]:
    """Yield each trace as it was and as it is now, once it is stored."""
    with ThreadPoolExecutor(config.evaluation.workers) as pool:
        for first in range(0, len(ids), _BATCH):
            stored = store.evaluations(ids[first : first + _BATCH], project)
            parents = store.span_parents([evaluation.key for evaluation in stored])
            of_each = [parents.get(evaluation.key, {}) for evaluation in stored]
            fresh = list(pool.map(evaluate_again, repeat(engine), stored, repeat(layers), of_each))
            store.write(fresh)
            yield from zip(stored, fresh, strict=True)


def _list_changes(before: TraceEvaluation, after: TraceEvaluation) -> list[_Change]:
    """Return the layers and own evaluators whose verdict changed."""
    was = _group_verdicts(before)
    return [
        _Change(name, was.get((span, name), "none"), verdict)
        for (span, name), verdict in _group_verdicts(after).items()
        if was.get((span, name)) != verdict
    ]


def _group_verdicts(evaluation: TraceEvaluation) -> dict[tuple[str, str], str]:
    """Return the state by span and layer, or own evaluator."""
    return {
        (score.span_id, score.name): find_state(score.layer, score.name, score.outcome) or "advice"
        for score in evaluation.scores
        if score.name == score.layer.value or is_own(score)
    }
