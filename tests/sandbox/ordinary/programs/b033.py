import io
import pathlib
import tarfile
import tempfile

files = {"src/main.py": "print('hi')\n", "src/util.py": "X = 1\n", "notes.md": "# notes\n"}
raw = io.BytesIO()
with tarfile.open(fileobj=raw, mode="w:gz") as tar:
    for name, text in sorted(files.items()):
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = len(text), 1_600_000_000, 0o644
        tar.addfile(info, io.BytesIO(text.encode()))
raw.seek(0)
with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=raw) as tar:
    for member in tar.getmembers():
        print(member.name, member.size, oct(member.mode))
    tar.extractall(folder, filter="data")
    found = sorted(p.relative_to(folder).as_posix() for p in pathlib.Path(folder).rglob("*"))
    print(found)
    print((pathlib.Path(folder) / "notes.md").read_text().strip())
