from pathlib import Path, PurePosixPath, PureWindowsPath

p = PurePosixPath("/var/www/site/index.html")
print(p.parent.name, p.stem, p.suffix, p.with_suffix(".txt"), p.relative_to("/var"), p.is_relative_to("/etc"))
print(PureWindowsPath(r"C:\Users\ann\a.txt").parts, p.match("*.html"))
notes = Path("notes/2024/may.md")
notes.parent.mkdir(parents=True)
notes.write_text("# May\n")
notes.touch()
print(notes.exists(), notes.read_text().strip(), list(map(str, Path().rglob("*.md"))), Path.cwd().name != "")
