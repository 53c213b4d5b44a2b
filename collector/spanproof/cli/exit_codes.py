"""Exit codes of the `spanproof` command."""

import signal
from typing import Final

EXIT_PASS: Final = 0
EXIT_GATE_FAILED: Final = 1
EXIT_MISUSE: Final = 2
EXIT_INTERRUPTED: Final = 128 + signal.SIGINT
# SIGPIPE, by its number: Windows has no name for it.
EXIT_BROKEN_PIPE: Final = 128 + 13
"""The reader of stdout closed it early, so a verdict may be unread: neither pass nor fail."""
