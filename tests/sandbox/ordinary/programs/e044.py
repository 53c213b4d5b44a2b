import shutil
from pathlib import Path

for folder in ("docs", "images", "other"):
    Path("sorted", folder).mkdir(parents=True)
kinds = {".txt": "docs", ".pdf": "docs", ".png": "images"}
for name in ("a.txt", "b.png", "c.pdf", "d.bin"):
    Path(name).touch()
    shutil.move(name, Path("sorted", kinds.get(Path(name).suffix, "other"), name))
print(sorted(str(path) for path in Path("sorted").rglob("*.*")))
