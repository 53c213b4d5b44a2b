import shutil
import tempfile
from pathlib import Path

work = Path(tempfile.mkdtemp(prefix="site-"))
(work / "css").mkdir()
(work / "index.html").write_text("<h1>Hi</h1>")
(work / "css" / "main.css").write_text("h1 { color: red }")
shutil.copytree(work, "public", ignore=shutil.ignore_patterns("*.tmp"))
shutil.rmtree(work)
for path in sorted(Path("public").rglob("*")):
    print(path.as_posix(), path.stat().st_size if path.is_file() else "dir")
print(work.exists())
