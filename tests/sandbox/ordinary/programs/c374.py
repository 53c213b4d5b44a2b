import gzip, bz2, lzma, zipfile, io, os
for m, n in ((gzip, "a.gz"), (bz2, "a.bz2"), (lzma, "a.xz")):
    with m.open(n, "wt") as f: f.write("line\n" * 100)
    with m.open(n, "rt") as f: print(n, sum(1 for _ in f), os.path.getsize(n) < 200)
b = io.BytesIO()
with zipfile.ZipFile(b, "w") as z: z.write("a.gz", "in/a.gz"); z.mkdir("d")
print(zipfile.is_zipfile(b), zipfile.Path(b, "in/").iterdir().__next__().name)
