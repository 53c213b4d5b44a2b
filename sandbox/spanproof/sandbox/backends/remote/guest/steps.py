"""A session over there: a run that takes steps from the host before it ends.

In: steps, and answers to the program's tool calls. Out: a line for each step and each call. The clock of a
step is paused while the host answers a call.
"""

from __future__ import annotations

import base64
import secrets
import select
import time

from spanproof.sandbox.backends.remote.guest import tree
from spanproof.sandbox.backends.remote.guest.watch import Run
from spanproof.sandbox.guest.inbox import encode_message
from spanproof.sandbox.guest.wire import Header
from spanproof.sandbox.supervisor.namespaces import memory

_CALLS_A_STEP = 10_000  # Tool calls: their time is not the step's, so their number must be bounded
_OF_A_STEP = ("result", "text", "characters", "raised", "outcome")


class SessionRun(Run):
    """One session, from its first step to its last."""

    _step = ""  # The secret name of the step at hand: a report made up before it began cannot know it
    _in_step = False
    _ready = False
    _calls = 0
    _cpu_reported = 0.0

    def finish(self) -> None:
        """Serve the program as its host says, to its last step."""
        self._poll.register(self._host.fd, select.POLLIN)
        super().finish()

    def _waits_for_host(self) -> bool:
        return not self._in_step or self._clock.is_paused

    def _is_between_steps(self) -> bool:
        return not self._in_step

    def _read_host(self) -> None:
        try:
            for line in self._host.received():
                self._take(line)
        except EOFError:
            self._stopped = "closed"

    def _take(self, line: Header) -> None:
        if line["kind"] == "step" and not self._in_step:
            self._in_step, self._calls = True, 0
            self._step = secrets.token_hex(8)
            self._clock.start()
            source = base64.b64decode(line["source"])
            self._send_to_program(encode_message({"kind": "step", "step": self._step}, [source]))
        elif line["kind"] == "answer" and self._clock.is_paused:
            self._clock.resume()
            self._send_to_program(encode_message(line))

    def _handle(self, said: Header) -> None:
        kind = said.get("kind")
        if said.get("token") != self._token:
            return
        if kind == "call":
            self._forward(said)
        elif kind == "ready" and not self._ready:
            self._ready = True
            self._host.send("ready")
        elif kind == "step" and self._in_step and said.get("step") == self._step:
            self._end_step(said)

    def _forward(self, said: Header) -> None:
        self._calls += 1
        if self._calls > _CALLS_A_STEP:
            self._stopped = "timeout"
        elif self._waits_for_host():
            reason = "another call waits for its answer" if self._in_step else "no step is running"
            refusal = {"error_type": "RuntimeError", "error_message": reason}
            answer = {"kind": "answer", "call": said.get("call"), **refusal}
            self._send_to_program(encode_message(answer))
        else:
            self._clock.stop(time.monotonic())
            self._host.send("call", **{key: said.get(key) for key in ("call", "tool", "args", "kwargs")})

    def _end_step(self, said: Header) -> None:
        """Gather what the step did, report it to the host, and start the next one's account."""
        self._in_step = False
        self._drain()
        self._sample(time.monotonic())
        spent = sum(memory.read_cpu_s(pid) for pid in tree.list_descendants())
        facts = self._list_facts(
            self._clock.passed_s(),
            max(0.0, spent - self._cpu_reported),
            {key: said.get(key) for key in _OF_A_STEP},
        )
        self._cpu_reported = spent
        self._host.send("step", **facts)
        self._renew_output()
