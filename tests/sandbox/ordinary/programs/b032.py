import io
import zipfile

buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    for n in range(3):
        info = zipfile.ZipInfo(f"docs/page{n}.txt", date_time=(2020, 1, 1, 0, 0, 0))
        archive.writestr(info, f"This is page {n}.\n" * (n + 1) * 10, zipfile.ZIP_DEFLATED)
    archive.writestr(zipfile.ZipInfo("README"), "read me first\n")
with zipfile.ZipFile(buffer) as archive:
    print("bad file:", archive.testzip())
    for info in archive.infolist():
        print(f"{info.filename:16} {info.file_size:5} crc {info.CRC:08x} {info.date_time[0]}")
    with archive.open("docs/page1.txt") as fh:
        print(fh.readline().decode().strip())
    print((zipfile.Path(archive) / "README").read_text().strip())
