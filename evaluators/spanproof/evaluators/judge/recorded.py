"""Replies kept by the content of their question, so that the model is called once per question."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from spanproof.evaluators.judge.errors import JudgeUnavailable


class Recordings:
    """A directory with a file per reply; several processes may share it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def reply(self, key: str) -> str | None:
        """Return the reply kept under this key, None where there is none or it is no recording."""
        try:
            kept = json.loads(self._locate_file(key).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        reply = kept.get("reply") if isinstance(kept, dict) else None
        return reply if isinstance(reply, str) else None

    def keep(self, key: str, model: str, reply: str) -> None:
        """Keep a reply; whole or not at all.

        Raises:
            JudgeUnavailable: the directory cannot be written.
        """
        file = self._locate_file(key)
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

    def _locate_file(self, key: str) -> Path:
        return self._directory / key[:2] / f"{key}.json"
