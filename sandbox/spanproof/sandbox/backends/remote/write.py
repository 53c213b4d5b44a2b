"""Writing a file on a machine whose service runs commands and has no call for files."""

from __future__ import annotations

import base64
import shlex
from typing import Final

from spanproof.sandbox.backends.remote.service import Host
from spanproof.sandbox.errors import SandboxBroken

_PIECE_BYTES: Final = 262144


def write_by_command(service: str, host: Host, path: str, data: bytes) -> None:
    """Write a file through the input of a shell's command.

    Not every protocol can end an input, so that the command is given the length. Nor does every one keep
    bytes that are no text, so that it is given base64.

    Raises:
        SandboxBroken: the file was not written.
    """
    text = base64.b64encode(data)
    command = f"umask 077 && head -c {len(text)} | base64 -d > {shlex.quote(path)} && echo written"
    stream = host.start(command, talks=True)
    for first in range(0, len(text), _PIECE_BYTES):
        stream.send_stdin(text[first : first + _PIECE_BYTES])
    outputs = [(out or "", err or "") for out, err, _ in stream]
    if "".join(out for out, _ in outputs).strip() != "written":
        errors = "".join(err for _, err in outputs).strip()
        raise SandboxBroken(f"{service}: {path} was not written on machine {host.id}: {errors[:300]}")
