"""A program in a real container: its answer, its files and its spans come out, and nothing else does."""

from __future__ import annotations

import json

import pytest
from docker_daemon import DockerDaemon

from spanproof.experiments import (
    ExperimentError,
    Settings,
    TrialVerdict,
    build_program_agent,
    run_experiment,
)

pytestmark = pytest.mark.docker

AGENT = """
import json, os, sys, time, urllib.request
task = sys.stdin.read()
if os.environ["SPANPROOF_TASK"] == "sleep":
    time.sleep(600)
for path in ("/etc/mark", "/work/mark"):
    try:
        open(path, "w").write("written")
    except OSError as refused:
        print(path, refused.strerror)
span = {
    "traceId": "5b" * 16, "spanId": "6c" * 8, "name": "invoke_agent clerk", "startTimeUnixNano": "1000000000",
    "endTimeUnixNano": "2000000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
        {"key": "gen_ai.agent.name", "value": {"stringValue": "clerk"}},
    ],
}
body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
urllib.request.urlopen(urllib.request.Request(url, body, {"content-type": "application/json"}))
print("the task was", task)
"""


def test_a_program_runs_in_a_container_of_a_pinned_image(
    docker_daemon: DockerDaemon, monkeypatch, write_suite, engine, tmp_path
):
    monkeypatch.setenv("DOCKER_HOST", docker_daemon.host)
    must = [
        {"answer": {"contains": "/etc/mark Read-only file system"}},
        {"answer": {"contains": "the task was refund A-17"}},
        {"file": {"path": "mark", "equals": "written"}},
    ]
    suite = write_suite(
        refund={"task": "refund A-17", "files": {"agent.py": AGENT}, "must": must},
        late={"task": "sleep", "files": {"agent.py": AGENT}, "must": must},
    )
    program = build_program_agent("python3 agent.py", docker_daemon.image)
    folder, only = tmp_path / "x", frozenset({"refund"})
    found = run_experiment(program, suite, folder, engine, Settings(timeout_s=60), only=only)
    (trial,) = found.trials
    assert (trial.verdict, trial.reason, trial.trace_id) == (TrialVerdict.PASSED, "", "5b" * 16)
    late = run_experiment(
        program, suite, tmp_path / "late", engine, Settings(timeout_s=1), only=frozenset({"late"})
    )
    assert "it did not answer within 1 s" in late.trials[0].reason
    head = json.loads((folder / "experiment.json").read_text())
    assert head["image"].startswith("sha256:")
    with pytest.raises(ExperimentError, match="there is no image 'no-such-image'"):
        build_program_agent("python3 agent.py", "no-such-image")
    with pytest.raises(ExperimentError, match="no-such-program"):
        run_experiment(
            build_program_agent("no-such-program", docker_daemon.image), suite, tmp_path / "y", engine
        )
