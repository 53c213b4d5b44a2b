"""A session as the host holds it: one machine, for as long as it lasts.

In: steps, and an answer to each tool call. Out: an `Execution` per step. The result of a step is the
machine's word, as all of its report is; the host checks the form of every line.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from spanproof.sandbox.backend import AnswerTool, Session
from spanproof.sandbox.backends.remote.conversation import Conversation
from spanproof.sandbox.backends.remote.job import encode_source
from spanproof.sandbox.backends.remote.machine import Machine
from spanproof.sandbox.backends.remote.output import decode_output
from spanproof.sandbox.calls import answer_call
from spanproof.sandbox.errors import SandboxBroken
from spanproof.sandbox.guest.outcome import build_execution
from spanproof.sandbox.model import Execution, FailureClass, SessionSpec

_START_S = 30.0
_GRACE_S = 10.0


class RemoteSession(Session):
    """One interpreter over several programs, on a machine of its own."""

    def __init__(
        self,
        machine: Machine,
        conversation: Conversation,
        spec: SessionSpec,
        answer: AnswerTool,
        drop: Callable[[], None],
    ) -> None:
        self._machine = machine
        self._conversation: Conversation | None = conversation
        self._spec = spec
        self._answer = answer
        self._drop = drop
        self._tools = frozenset(stub.name for stub in spec.tools)
        try:
            ready = conversation.next(_START_S).get("kind") == "ready"
        except TimeoutError:
            ready = False
        if not ready:
            raise SandboxBroken(f"{machine.service}: the session on machine {machine.id} did not start")

    def execute(self, source: str) -> Execution:
        """Run one step; see `Session.execute`."""
        if self._conversation is None:
            raise SandboxBroken("the session is over")
        try:
            execution, goes_on = self._run_step(self._conversation, source)
        except BaseException:
            self.close()
            raise
        if not goes_on:
            self.close()
        return execution

    def close(self) -> None:
        """End the interpreter, and its machine."""
        conversation, self._conversation = self._conversation, None
        if conversation is not None:
            conversation.close()
            self._drop()

    def _run_step(self, conversation: Conversation, source: str) -> tuple[Execution, bool]:
        limits = self._spec.limits
        self._machine.outlasts(limits.wall_s + _GRACE_S)
        conversation.allow(limits.output_bytes)
        conversation.send({"kind": "step", "source": encode_source(source)})
        began = time.monotonic()
        deadline = began + limits.wall_s + _GRACE_S
        while True:
            try:
                said = conversation.next(deadline - time.monotonic())
            except TimeoutError:  # the machine's clock did not stop it, so ours does
                return Execution(FailureClass.TIMEOUT, wall_s=time.monotonic() - began), False
            if said.get("kind") == "call":
                called_at = time.monotonic()
                answer = answer_call(said, self._tools, self._answer)
                deadline += time.monotonic() - called_at
                self._machine.outlasts(limits.wall_s + _GRACE_S)
                conversation.send(answer)
            elif said.get("kind") in ("step", "result"):
                execution = build_execution(said, decode_output(said), limits)
                return execution, said["kind"] == "step"
