"""In the build sandbox: install the wheels that lie in /archives into /image/site, without a network."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

_MOST_BYTES = 8 << 30
sizes = [one.file_size for wheel in Path("/archives").glob("*.whl") for one in ZipFile(wheel).infolist()]
if sum(sizes) > _MOST_BYTES:  # an archive may hold a thousand times its own size
    sys.exit("the packages unpack to more than 8 GiB")

# On the image's own disk: the sandbox's is memory, and moving within one file system copies nothing.
tempfile.tempdir = os.environ["TMPDIR"] = "/image/temporary"
os.mkdir(tempfile.tempdir)  # noqa: PTH102 - one line of a small program

from pip._internal.cli.main import main  # noqa: E402

CODE = main(
    [
        "install",
        "--no-index",
        "--find-links=/archives",
        "--only-binary=:all:",
        "--no-deps",
        "--require-hashes",
        "--requirement=/archives/requirements.txt",
        "--target=/image/site",
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
