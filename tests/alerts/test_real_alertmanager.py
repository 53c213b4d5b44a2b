"""The alerts of Spanproof at a real Alertmanager, and the rules of deploy/prometheus at a real Prometheus."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import plain_http
import pytest
from free_port import free_port
from waiting import wait_until

from spanproof.collector.telemetry import Telemetry
from spanproof.trace import Cohort

from .conftest import NOW, OUTCOMES, evaluation, running
from .test_engine import SECOND, rule

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "rules.yaml"

pytestmark = pytest.mark.timeout(600)


def active(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = plain_http.get(f"{url}/api/v2/alerts", params={"active": "true"}).json()
    return found


def test_alerts_reach_a_real_alertmanager_live_through_its_restart_and_end(
    judged, receiver, engines, alertmanager
):
    judged("fail fail fail fail", agent="buyer")
    judged("fail fail fail fail", agent='pri{cer}"\n')
    with alertmanager() as url:
        target = {"kind": "alertmanager", "url": url, "refresh_s": 1}
        watched = rule(
            cohort={}, group_by=["agent"], notify=[target], cooldown_s=100_000, labels={"to team": "payments"}
        )
        engine = engines.open(watched)
        engines.tick(engine)
        wait_until(lambda: len(active(url)) == 2, "both alerts are active")
        labels = [alert["labels"] for alert in active(url)]
        assert {each["agent"] for each in labels} == {"buyer", 'pri{cer}"'}
        assert labels[0]["to_team"] == "payments"
        assert "fails 4 of 4 (100 %)" in active(url)[0]["annotations"]["description"]
        wait_until(lambda: receiver.bodies, "the webhook of Alertmanager")
        assert receiver.bodies[0]["status"] == "firing"
        assert engine.close(60)
        engine = engines.open(watched)
        engines.tick(engine, 1)
    with alertmanager() as url:  # it has forgotten its alerts: they come again by refreshing
        wait_until(lambda: len(active(url)) == 2, "both alerts are active again")
        judged("pass " * 9, agent="buyer", at_ns=NOW + SECOND)
        engines.tick(engine, 2)
        wait_until(lambda: [each["labels"]["agent"] for each in active(url)] == ['pri{cer}"'])
        engines.tick(engine, 700)
        wait_until(lambda: active(url) == [], "no alert is active")
        wait_until(lambda: receiver.bodies[-1]["status"] == "resolved", "the end at Alertmanager's webhook")


@contextmanager
def metrics_of(telemetry: Telemetry) -> Iterator[str]:
    """Serve /metrics as the collector does; gives host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, content_type = telemetry.encode_metrics(self.headers.get("Accept", ""))
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_rules_fire_at_a_real_prometheus_and_alertmanager(tmp_path, receiver, alertmanager):
    telemetry = Telemetry()
    directory, port = tmp_path / "prometheus", free_port()
    directory.mkdir()
    # The rules as they are shipped, on windows that a test can wait for.
    text = RULES.read_text().replace("[1h]", "[60s]").replace("[5m]", "[30s]").replace("for: 2m", "for: 1s")
    (directory / "rules.yaml").write_text(text)
    with alertmanager() as alertmanager_url, metrics_of(telemetry) as scraped:
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [{"job_name": "spanproof", "static_configs": [{"targets": [scraped]}]}],
            "alerting": {
                "alertmanagers": [{"static_configs": [{"targets": [alertmanager_url.partition("//")[2]]}]}]
            },
        }
        (directory / "config.yaml").write_text(json.dumps(config))
        url = f"http://127.0.0.1:{port}"
        command = (
            "prometheus", "--config.file=config.yaml", "--storage.tsdb.path=data",
            f"--web.listen-address=127.0.0.1:{port}",
        )  # fmt: skip
        with running(directory, url, *command):
            number = 0

            def go_on() -> bool:
                nonlocal number
                for _ in range(20):
                    number += 1
                    word = "fail" if number % 4 == 0 else "pass"
                    telemetry.verdicts.add_evaluation(
                        evaluation(number, OUTCOMES[word], Cohort(agent='c"l\\erk'), NOW)
                    )
                return bool(receiver.bodies)

            wait_until(go_on, "the alert arrives", pause_s=1.0)
    (alert,) = receiver.bodies[0]["alerts"]
    assert alert["labels"]["alertname"] == "SpanproofFailRateHigh"
    assert (alert["labels"]["score"], alert["labels"]["agent"]) == ("groundedness.score", 'c"l\\erk')
    assert alert["annotations"]["summary"].startswith('groundedness.score of agent c"l\\erk fails in 2')
