"""In the build sandbox: install wheels into an image's `site`, without a network.

Its input says, in a line each, where the wheels are and where the image.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

_MOST_BYTES = 8 << 30
ARCHIVES, IMAGE = (line.strip() for line in sys.stdin)
sizes = [one.file_size for wheel in Path(ARCHIVES).glob("*.whl") for one in ZipFile(wheel).infolist()]
if sum(sizes) > _MOST_BYTES:  # an archive may hold a thousand times its own size
    sys.exit("the packages unpack to more than 8 GiB")

# On the image's own disk: the sandbox's is memory, and moving within one file system copies nothing.
tempfile.tempdir = os.environ["TMPDIR"] = f"{IMAGE}/temporary"
os.mkdir(tempfile.tempdir)  # noqa: PTH102 - one line of a small program

from pip._internal.cli.main import main  # noqa: E402

CODE = main(
    [
        "install",
        "--no-index",
        f"--find-links={ARCHIVES}",
        "--only-binary=:all:",
        "--no-deps",
        "--require-hashes",
        f"--requirement={ARCHIVES}/requirements.txt",
        f"--target={IMAGE}/site",
        "--no-cache-dir",
        "--no-warn-script-location",
        "--root-user-action=ignore",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar=off",
        "--quiet",
    ]
)
shutil.rmtree(tempfile.tempdir, ignore_errors=True)
sys.exit(CODE)
