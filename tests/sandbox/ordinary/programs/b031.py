import os
import tempfile

with tempfile.NamedTemporaryFile("w+", suffix=".txt", delete=False) as fh:
    fh.write("one\ntwo\nthree\n")
    name = fh.name
print("size", os.path.getsize(name), "suffix", os.path.splitext(name)[1])
os.unlink(name)
print("exists after unlink:", os.path.exists(name))

spool = tempfile.SpooledTemporaryFile(max_size=16, mode="w+")
spool.write("short")
print("rolled:", spool._rolled)
spool.write(" but now it is longer than sixteen")
print("rolled:", spool._rolled)
spool.seek(0)
print(spool.read())
spool.close()

with tempfile.TemporaryDirectory(prefix="demo-") as folder:
    for n in range(3):
        with open(os.path.join(folder, f"f{n}"), "w") as fh:
            fh.write("x" * n)
    print(sorted(os.listdir(folder)))
print("folder gone:", not os.path.isdir(folder))
