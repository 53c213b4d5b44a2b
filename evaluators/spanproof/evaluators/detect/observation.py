"""What an agent was shown after its code ran, taken apart where its framework joined it.

smolagents writes what the code printed under `Execution logs:` and the value it ended with under `Last output
from code snippet:`. Either may be missing; any other text has no parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spanproof.trace import Payload

_LOGS: Final = "Execution logs:\n"
_OUTPUT: Final = "Last output from code snippet:\n"


@dataclass(frozen=True, slots=True)
class Observation:
    """The parts; None where the text does not separate them."""

    logs: str | None = None
    output: Payload | None = None


def parse_observation(text: str | None) -> Observation:
    """Return the logs and the output in an observation."""
    if text is None:
        return Observation()
    text = text.removeprefix("Observation:\n")
    if not text.startswith((_LOGS, _OUTPUT)):
        return Observation()
    logs, mark, output = text.rpartition(_OUTPUT)
    if not mark:
        return Observation(logs=text.removeprefix(_LOGS))
    printed = logs.removeprefix(_LOGS).removesuffix("\n")
    return Observation(printed, Payload(output, output))
