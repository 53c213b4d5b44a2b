import mmap
import os

with open("records.bin", "wb") as out:
    for n in range(1000):
        out.write(n.to_bytes(4, "little"))
with open("records.bin", "r+b") as f, mmap.mmap(f.fileno(), 0) as view:
    print(len(view), int.from_bytes(view[400:404], "little"), view.find((513).to_bytes(4, "little")))
    view[0:4] = (99).to_bytes(4, "little")
print(int.from_bytes(open("records.bin", "rb").read(4), "little"), os.path.getsize("records.bin"))
