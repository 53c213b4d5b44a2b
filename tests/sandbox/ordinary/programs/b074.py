import bz2
import gzip
import lzma
import os
import tempfile
import zlib

text = b"\n".join(b"row %d of the table" % n for n in range(500))
for name, module in [("zlib", zlib), ("gzip", gzip), ("bz2", bz2), ("lzma", lzma)]:
    packed = module.compress(text)
    print(name, "smaller:", len(packed) < len(text) // 3, "same:", module.decompress(packed) == text)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "rows.gz")
    with gzip.open(path, "wt") as fh:
        for n in range(5):
            print("line", n, file=fh)
    with gzip.open(path, "rt") as fh:
        print([line.strip() for line in fh])
print(f"crc32 {zlib.crc32(text):08x} adler32 {zlib.adler32(text):08x}")
try:
    zlib.decompress(b"garbage")
except zlib.error as exc:
    print("zlib:", str(exc).split(":")[0])
