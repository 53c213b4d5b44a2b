"""What a user can correct: the one error form of the command line, and the remedy for each expected error.

The packages raise errors of their own, which name the input and what is wrong. Commands let them pass;
`describe` turns them into a message with a remedy at the edge. An error that it does not know is a bug.
"""

from __future__ import annotations

from collections.abc import Mapping

# An installed wheel holds no documentation.
_REPOSITORY = "https://github.com/spanproof/spanproof"
ISSUES_URL = f"{_REPOSITORY}/issues"


def build_page_url(name: str) -> str:
    """Return the address of one page of the documentation, such as `policy`."""
    return f"{_REPOSITORY}/blob/main/docs/{name}.md"


class UsageProblem(Exception):  # noqa: N818 - names what the user sees
    """An input or a setting that the user can correct.

    Attributes:
        what: the input and what is wrong with it.
        remedy: what to do.
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


REMEDIES: Mapping[str, str] = {
    "spanproof.sandbox.errors.PolicyError": f"see the keys of a policy: {build_page_url('policy')}",
    "spanproof.sandbox.errors.BadFixture": f"see the form of fixtures: {build_page_url('replay')}",
    "spanproof.sandbox.errors.BadSetting": f"see the settings of each backend: {build_page_url('sandbox')}",
    "spanproof.sandbox.errors.EnvironmentUnavailable": (
        f"see what may be built: {build_page_url('environments')}"
    ),
    "spanproof.sandbox.errors.SandboxError": "run: spanproof doctor",
    "spanproof.evaluators.evaluator.EvaluatorError": (
        f"correct or remove the evaluator; see its form: {build_page_url('evaluators')}"
    ),
    "spanproof.evaluators.judge.calibration.BadLabels": f"see the form of labels: {build_page_url('judge')}",
    "spanproof.evaluators.judge.errors.RubricError": f"see the form of a rubric: {build_page_url('judge')}",
    "spanproof.evaluators.judge.errors.JudgeError": (
        "check that judge.model, OPENAI_BASE_URL and OPENAI_API_KEY name a model that answers;"
        f" see {build_page_url('judge')}"
    ),
    "spanproof.suites.errors.SuiteError": "",
    "spanproof.experiments.errors.ExperimentError": (
        f"see how agents are run: {build_page_url('experiments')}"
    ),
    "spanproof.benchmarks.errors.BenchmarkError": f"see the published formats: {build_page_url('bench')}",
    "spanproof.gate.errors.GateError": f"see the grammar of assertions: {build_page_url('gate')}",
    "spanproof.store.errors.StoreBusy": "",
    "spanproof.store.errors.QueryRefused": (
        f"see the tables and their columns: {build_page_url('store')}#tables"
    ),
    "spanproof.store.errors.StoreError": (
        "check that --store (of `serve`: store.location) names the directory of a store, or a ClickHouse"
        " server that answers"
    ),
    "spanproof.collector.receive.server.PortTaken": (
        "free the port, or set another: --set receivers.grpc.port=…, receivers.http.port=…"
    ),
    "spanproof.collector.receive.auth.TokenFileError": (
        "write a list, each item a text or a mapping with token, roles and project"
    ),
    "spanproof.collector.receive.tls.TlsError": "check that certificate, key and client_ca are PEM files",
    "spanproof.collector.wal.log.WalInUse": (
        "stop the collector that uses it, or set another: --set wal.directory=…"
    ),
}
"""The remedy by the qualified name of an error's class: naming a class here does not import its package."""


def find_problem(failure: BaseException) -> UsageProblem | None:
    """Return the message for an expected error; None for one that is a bug."""
    if isinstance(failure, UsageProblem):
        return failure
    for kind in type(failure).__mro__:
        remedy = REMEDIES.get(f"{kind.__module__}.{kind.__qualname__}")
        if remedy is not None:
            return UsageProblem(str(failure), remedy)
    if isinstance(failure, OSError):
        return _build_os_problem(failure)
    return None


def _build_os_problem(failure: OSError) -> UsageProblem:
    reason = failure.strerror or str(failure)
    if failure.filename is None:
        return UsageProblem(
            f"input or output failed: {reason}", "check where the output goes and whether there is room"
        )
    return UsageProblem(f"{failure.filename}: {reason}", "check that it exists and can be read and written")
