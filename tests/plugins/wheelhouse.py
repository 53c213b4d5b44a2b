"""Wheels for tests: a directory that replaces an index of pip."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path


class Wheels:
    """A directory that pip takes wheels from."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def add(self, name: str, version: str, files: Mapping[str, str], needs: tuple[str, ...] = ()) -> Path:
        """Make a pure-Python wheel of these files."""
        info = f"{name}-{version}.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {need}\n" for need in needs)
        wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        content = {**files, f"{info}/METADATA": metadata, f"{info}/WHEEL": wheel}
        rows = [f"{path},{_sha256(text)},{len(text.encode())}" for path, text in content.items()]
        content[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
        path = self.directory / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for file, text in content.items():
                archive.writestr(file, text)
        return path


def _sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")
