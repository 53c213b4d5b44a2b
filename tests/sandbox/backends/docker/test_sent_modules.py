"""What is sent into a container loads there, with its data files, where no Spanproof is installed."""

from __future__ import annotations

import subprocess
import sys

from spanproof.sandbox.backends.docker.source import BOOT, ENTRY, encode_modules

LOADED = "spanproof.sandbox.supervisor.seccomp.watcher"


def test_the_modules_and_their_data_load_from_memory() -> None:
    boot = BOOT.partition(f'importlib.import_module("{ENTRY}')[0]
    assert boot != BOOT
    source = f'{boot}\nfor name in ("{ENTRY}", "{LOADED}"): importlib.import_module(name)\nprint("loaded")'
    done = subprocess.run(
        [sys.executable, "-c", source], input=encode_modules(), capture_output=True, check=False
    )
    assert done.stdout == b"loaded\n", done.stderr
