"""A session on a machine of its own: the host's end of the supervisor there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from spanproof.sandbox.backends.remote.conversation import Conversation
from spanproof.sandbox.backends.remote.machine import Machine
from spanproof.sandbox.errors import SandboxBroken, SandboxSilent
from spanproof.sandbox.guest.wire import Frame, Header
from spanproof.sandbox.model import Execution, FailureClass, Limits
from spanproof.sandbox.supervisor.run.session import SupervisorSession

# For the machine's own clock to stop a program, before ours ends the machine.
GRACE_S = 10.0


class MachineLink:
    """The host's end of a supervisor on a machine; see `Borrowed`."""

    def __init__(
        self, machine: Machine, conversation: Conversation, limits: Limits, drop: Callable[[], None]
    ) -> None:
        """Take a conversation that has begun, and what ends its machine."""
        self._machine = machine
        self._conversation = conversation
        self._limits = limits
        self._drop = drop

    def send(self, header: Header, parts: Sequence[bytes] = ()) -> None:
        """See `Link`; the job itself was given in a file. The machine is to outlast what it is sent."""
        if header["kind"] == "job":
            return
        self._machine.update_lifetime(self._limits.wall_s + GRACE_S)
        self._conversation.update_allowance(self._limits.output_bytes)
        self._conversation.send(header, parts)

    def wait_for_frame(self, timeout_s: float) -> Frame:
        """See `Link`."""
        try:
            frame = self._conversation.wait_for_frame(timeout_s)
        except TimeoutError:
            raise SandboxSilent(f"{self._machine.service}: machine {self._machine.id} is silent") from None
        header = frame.header
        if header.get("kind") == "broken":
            raise SandboxBroken(f"{self._machine.service}: the supervisor failed: {header.get('reason')}")
        raised = header.get("raised")
        # No kernel reports it over there: it is the guest's own word.
        header["memory_refused"] = int(isinstance(raised, dict) and raised.get("refused") is True)
        return frame

    def wait_for_close(self) -> Header:
        """See `Borrowed`; the machine ends with it."""
        self._conversation.close()
        self._drop()
        return {}


class RemoteSession(SupervisorSession):
    """See `SupervisorSession`."""

    def execute(self, source: str) -> Execution:
        """See `Session.execute`; where the machine's clock did not stop a step, ours does."""
        began = time.monotonic()
        try:
            return super().execute(source)
        except SandboxSilent:
            return Execution(FailureClass.TIMEOUT, wall_s=time.monotonic() - began)
