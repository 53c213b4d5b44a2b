import hashlib
from pathlib import Path

Path("photos").mkdir()
for name, content in {"a.jpg": b"x" * 100, "b.jpg": b"y" * 100, "copy of a.jpg": b"x" * 100}.items():
    (Path("photos") / name).write_bytes(content)
seen = {}
for path in sorted(Path("photos").iterdir()):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest in seen:
        print(f"{path} is the same as {seen[digest]}")
        path.unlink()
    else:
        seen[digest] = path
print(len(list(Path("photos").iterdir())), "left")
