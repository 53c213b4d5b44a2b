"""In the build sandbox: unpack tarballs to their places in an image; no script runs.

Its input says, in a line each, where the tarballs are and where the image.
"""

import json
import sys
import tarfile
from pathlib import Path, PurePosixPath

ARCHIVES, IMAGE = (Path(line.strip()) for line in sys.stdin)


class Room:
    """Bytes that may still be unpacked: an archive may hold a thousand times its own size."""

    left = 8 << 30

    def add_used(self, size: int) -> None:
        """Use some of it up."""
        self.left -= size
        if self.left < 0:
            sys.exit("the packages unpack to more than 8 GiB")


ROOM = Room()


def write_files(archive: Path, directory: Path) -> None:
    """Unpack regular files only, without their first directory, whatever its name."""
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = PurePosixPath(member.name).parts
            if not member.isfile() or len(parts) < 2 or ".." in parts:
                continue
            target = directory.joinpath(*parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content is not None
            with target.open("wb") as file:
                while piece := content.read(1 << 20):
                    file.write(piece)
                    ROOM.add_used(len(piece))
            if member.mode & 0o111:
                target.chmod(0o755)


for one in json.loads((ARCHIVES / "plan.json").read_text()):
    destination = IMAGE / one["place"]
    if not destination.resolve().is_relative_to(IMAGE):
        sys.exit(f"{one['place']}: leads out of the image")
    write_files(ARCHIVES / one["file"], destination)
