"""The runs of a trace: each agent at work, its steps in order, its task and what it answered.

A `Trace` and its snippets come in, `Run`s go out, in order of time. Every AGENT span is a run, a nested one
with its parent's id; a trace without agents is one run per piece of work under its roots. Nothing is judged.
"""

from spanproof.evaluators.runs.runs import list_runs
from spanproof.evaluators.runs.scope import list_run_spans

__all__ = ["list_run_spans", "list_runs"]
