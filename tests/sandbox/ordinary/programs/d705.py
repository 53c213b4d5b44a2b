import collections
import os
from pathlib import Path

for name, size in {"a/x.jpg": 300, "a/b/y.jpg": 200, "a/b/z.txt": 50, "c/readme": 10}.items():
    path = Path("files") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"0" * size)
sizes = collections.Counter()
for root, folders, files in os.walk("files"):
    folders.sort()
    for file in sorted(files):
        full = os.path.join(root, file)
        sizes[os.path.splitext(file)[1] or "none"] += os.path.getsize(full)
        print(full)
print(sizes.most_common())
