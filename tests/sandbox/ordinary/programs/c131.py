import zipfile, io
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("docs/readme.txt", "hi" * 100); z.writestr("b.bin", bytes(range(10)))
with zipfile.ZipFile("a.zip") as z:
    print(z.namelist(), z.testzip(), z.getinfo("docs/readme.txt").file_size); z.extractall("out")
import pathlib
print(sorted(str(p) for p in pathlib.Path("out").rglob("*") if p.is_file()))
