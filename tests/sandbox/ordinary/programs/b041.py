import pathlib
import shutil
import tempfile

root = pathlib.Path(tempfile.mkdtemp())
try:
    src = root / "src"
    for rel in ["pkg/__init__.py", "pkg/core.py", "pkg/__pycache__/core.pyc", "data/x.csv"]:
        path = src / rel
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"content of {rel}\n")
    shutil.copytree(src, root / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.move(root / "copy" / "data" / "x.csv", root / "copy" / "moved.csv")
    (root / "copy" / "data").rmdir()
    (root / "link").symlink_to("copy/moved.csv")
    for path in sorted(root.rglob("*")):
        kind = "link" if path.is_symlink() else "dir" if path.is_dir() else "file"
        print(f"{kind:5}{path.relative_to(root)}")
    print((root / "link").read_text().strip())
    usage = shutil.disk_usage(root)
    print("disk usage is sane:", 0 < usage.used <= usage.total)
finally:
    shutil.rmtree(root)
print("removed:", not root.exists())
