"""Measure spans acknowledged and stored, every row of them, beside Phoenix in the same run.

Usage: python -m tests.bench.stored [--phoenix BIN] [--requests 300] [--peer-requests 20] [--json]

BIN is the `phoenix` of an environment with `arize-phoenix`. Each server runs as its users start it, in
processes of its own, one after the other; the load is one client that sends again what is refused. A row is
over when the store has every span. Traces are not complete within the run, so that nothing is evaluated:
Phoenix does not evaluate either. Processor time is that of the server's processes alone; counting the rows of
Spanproof is part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from tests.bench.intake import HEADERS, SPANS, body

from spanproof.store import StoreError, open_store

_START_S = 300.0
_STORE_S = 900.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Row:
    """What one server did.

    Attributes:
        acknowledged_s: from the first request to the last acknowledgement.
        stored_s: to the last row.
    """

    server: str
    spans: int
    acknowledged_s: float
    stored_s: float
    cpu_s: float

    @property
    def a_second(self) -> float:
        """Spans stored in a second."""
        return self.spans / self.stored_s

    @property
    def a_core(self) -> float:
        """Spans stored in a second of the server's processor time."""
        return self.spans / self.cpu_s


def main() -> None:
    """Measure each, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--phoenix", type=Path)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--peer-requests", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        rows.append(measure("Spanproof", Path(scratch), spanproof_server, options.requests))
    show(rows[0], as_json=options.json)
    if options.phoenix is not None:
        with tempfile.TemporaryDirectory() as scratch:
            program = str(options.phoenix)
            server = lambda directory: phoenix_server(directory, program)  # noqa: E731
            rows.append(measure("Phoenix", Path(scratch), server, options.peer_requests))
        show(rows[1], as_json=options.json)
    if len(rows) > 1 and not options.json:
        print(f"ratio by time {rows[0].a_second / rows[1].a_second:.0f}, by processor time"
              f" {rows[0].a_core / rows[1].a_core:.0f}")  # fmt: skip


def show(row: Row, *, as_json: bool) -> None:
    """Print a row."""
    if as_json:
        print(json.dumps(asdict(row)), flush=True)
        return
    print(
        f"{row.server:10} {row.spans:7,} spans, acknowledged after {row.acknowledged_s:6.1f} s,"
        f" stored after {row.stored_s:6.1f} s: {row.a_second:8,.0f} /s, {row.a_core:8,.0f} a core",
        flush=True,
    )


def measure(
    name: str,
    directory: Path,
    serve: Callable[[Path], Iterator[tuple[subprocess.Popen[bytes], str, Callable[[], int]]]],
    requests: int,
) -> Row:
    """Send so many requests, wait for their rows."""
    with contextmanager(serve)(directory) as (process, url, stored):
        before = stored()
        warm = body(10_000)
        send(url, [warm])
        wait_for(stored, before + SPANS)
        bodies = [body(number) for number in range(requests)]
        cpu_s, began = cpu_of(process.pid), time.monotonic()
        send(url, bodies)
        acknowledged_s = time.monotonic() - began
        wait_for(stored, before + SPANS * (requests + 1))
        stored_s = time.monotonic() - began
        return Row(name, SPANS * requests, acknowledged_s, stored_s, cpu_of(process.pid) - cpu_s)


def spanproof_server(
    directory: Path,
) -> Iterator[tuple[subprocess.Popen[bytes], str, Callable[[], int]]]:
    """A collector of which no trace becomes complete."""
    settings = {
        "receivers.grpc.enabled": "false",
        "receivers.http.port": "0",
        "console.enabled": "false",
        "wal.directory": str(directory / "wal"),
        "store.location": str(directory / "store"),
        "assembly.quiet_s": "3600",
        "assembly.orphan_quiet_s": "3600",
        "assembly.max_wait_s": "3600",
        "evaluation.workers": "1",
    }
    command = [sys.executable, "-m", "spanproof.cli", "serve", "--json"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    with running(command, {}) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["http"]

        def stored() -> int:
            try:
                with closing(open_store(directory / "store", read_only=True)) as store:
                    return int(store.select("SELECT count() FROM otel_traces", 1)[1][0][0])
            except StoreError:
                return 0

        yield process, url, stored


def phoenix_server(
    directory: Path, program: str
) -> Iterator[tuple[subprocess.Popen[bytes], str, Callable[[], int]]]:
    """Phoenix over SQLite."""
    port = 16006
    environment = {
        "PHOENIX_WORKING_DIR": str(directory),
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(port + 1),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    # What it prints at its start is more than a pipe holds, and it waits for a reader.
    with running([program, "serve"], environment, subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}"
        until = time.monotonic() + _START_S
        while True:
            try:
                if httpx.get(f"{url}/healthz", timeout=5).status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            if time.monotonic() > until:
                raise TimeoutError(f"Phoenix does not answer at {url}")
            time.sleep(0.5)

        def stored() -> int:
            with closing(sqlite3.connect(f"file:{directory / 'phoenix.db'}?mode=ro", uri=True)) as database:
                return int(database.execute("SELECT count(*) FROM spans").fetchone()[0])

        yield process, url, stored


@contextmanager
def running(
    command: list[str], environment: dict[str, str], stdout: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own group, ended with all its children."""
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def send(url: str, bodies: list[bytes]) -> None:
    """Send each until it is acknowledged."""
    with httpx.Client(timeout=120) as client:
        for content in bodies:
            until = time.monotonic() + _STORE_S
            while True:
                answer = client.post(f"{url}/v1/traces", content=content, headers=HEADERS)
                if answer.status_code == 200:
                    break
                if answer.status_code not in (429, 502, 503, 504):
                    raise ValueError(f"{url} answers {answer.status_code}: {answer.text[:200]}")
                if time.monotonic() > until:
                    raise TimeoutError(f"{url} refused a request for {_STORE_S:.0f} s")
                time.sleep(float(answer.headers.get("retry-after", 0.2)))


def wait_for(stored: Callable[[], int], rows: int) -> None:
    """Wait until there are so many rows."""
    until = time.monotonic() + _STORE_S
    while (found := stored()) < rows:
        if time.monotonic() > until:
            raise TimeoutError(f"{found} of {rows} spans are stored after {_STORE_S:.0f} s")
        time.sleep(0.5)


def cpu_of(pid: int) -> float:
    """Return the processor seconds of a process and all its descendants, ended ones included."""
    total = 0.0
    for each in (pid, *children_of(pid)):
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(field) for field in fields[11:15]) / _TICKS
    return total


def children_of(pid: int) -> list[int]:
    """Return the descendants of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *children_of(child)]
    return found


if __name__ == "__main__":
    main()
