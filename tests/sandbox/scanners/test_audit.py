"""The list of what functions of packages do, from a wheel made here."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

_AUDIT = Path(__file__).parents[3] / "deploy" / "scanners" / "audit.py"


def test_public_functions_are_listed_with_the_call_that_acts(tmp_path: Path) -> None:
    wheel = tmp_path / "shop-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("shop/__init__.py", "from .models import load_model\n")
        archive.writestr(
            "shop/models.py",
            "import pickle\nfrom shutil import rmtree as clear\nfrom urllib.request import urlopen\n\n"
            "def load_model(data, strict=True):\n    return pickle.loads(data)\n\n"
            "class Client:\n    def fetch(self, address):\n        return urlopen(str(address))\n\n"
            "def _hidden(path):\n    clear(path)\n",
        )
        archive.writestr("shop/tests/test_models.py", "import pickle\ndef load(x):\n    pickle.loads(x)\n")

    done = subprocess.run(
        [sys.executable, str(_AUDIT), str(wheel)], capture_output=True, text=True, check=True
    )
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]

    assert "shop.load_model pickle 0 data # pickle.loads" in lines
    assert "shop.models.Client.fetch url 0 address # urllib.request.urlopen" in lines
    assert "shop.models.clear = shutil.rmtree # imported by name" in lines
    assert not any("test_models" in line or "_hidden" in line for line in lines)
