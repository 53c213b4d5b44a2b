from pathlib import Path
import zipfile

for name in ("one.txt", "two.txt"):
    Path(name).write_text(name * 10)
with zipfile.ZipFile("backup.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(Path().glob("*.txt")):
        archive.write(path)
with zipfile.ZipFile("backup.zip") as archive:
    print(archive.testzip(), [(info.filename, info.file_size) for info in archive.infolist()])
    print(archive.read("two.txt").decode()[:14])
