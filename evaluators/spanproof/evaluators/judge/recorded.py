"""Replies kept by the content of their prompt, so that the model is called once per prompt.

The directory is bounded: the replies that were written or read longest ago are removed.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from spanproof.evaluators.judge.errors import JudgeUnavailable

MAX_REPLIES: Final = 200_000
"""Replies kept in one directory; at about 4 KB of disk each that is 800 MB."""

# Listing the directory costs about a second at its bound, so it is not done for each reply.
_PRUNE_EVERY: Final = 1_000


class Recordings:
    """A directory with a file per reply; several processes may share it.

    Args:
        directory: where they are.
        max_replies: how many are kept.
        prune_every: after how many new replies the bound is enforced.
    """

    def __init__(
        self, directory: Path, max_replies: int = MAX_REPLIES, prune_every: int = _PRUNE_EVERY
    ) -> None:
        self._directory = directory
        self._max_replies = max_replies
        self._prune_every = prune_every
        self._kept = 0

    def find_reply(self, key: str) -> str | None:
        """Return the reply kept under this key, None where there is none or it is no recording."""
        file = self._get_file(key)
        try:
            kept = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        with suppress(OSError):
            os.utime(file)
        reply = kept.get("reply") if isinstance(kept, dict) else None
        return reply if isinstance(reply, str) else None

    def write_reply(self, key: str, model: str, reply: str) -> None:
        """Keep a reply; whole or not at all.

        Raises:
            JudgeUnavailable: the directory cannot be written.
        """
        file = self._get_file(key)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
            with os.fdopen(descriptor, "w", encoding="utf-8") as part:
                json.dump({"model": model, "reply": reply}, part, ensure_ascii=False)
            Path(name).replace(file)
        except OSError as problem:
            raise JudgeUnavailable(
                f"replies cannot be kept in {self._directory}: {problem.strerror}; set judge.recordings to a"
                " directory that may be written"
            ) from problem
        self._kept += 1
        if self._kept % self._prune_every == 0:
            self._remove_oldest_replies()

    def _remove_oldest_replies(self) -> None:
        """Remove the replies that were used longest ago, where there are more than are kept."""
        ages: list[tuple[float, Path]] = []
        for file in self._directory.glob("??/*.json"):
            # Another process may remove it at the same time.
            with suppress(OSError):
                ages.append((file.stat().st_mtime, file))
        for _, file in sorted(ages)[: max(0, len(ages) - self._max_replies)]:
            file.unlink(missing_ok=True)

    def _get_file(self, key: str) -> Path:
        return self._directory / key[:2] / f"{key}.json"
