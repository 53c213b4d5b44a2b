import mmap
import tempfile

with tempfile.TemporaryFile() as fh:
    fh.write(b"The quick brown fox jumps over the lazy dog.\n" * 3)
    fh.flush()
    with mmap.mmap(fh.fileno(), 0) as view:
        print("size", len(view))
        pos, hits = view.find(b"fox"), []
        while pos != -1:
            hits.append(pos)
            pos = view.find(b"fox", pos + 1)
        print("fox at", hits)
        view[hits[1]:hits[1] + 3] = b"cat"
        view.flush()
        view.seek(0)
        print(view.readline().decode().strip())
        print(view.readline().decode().strip())
    fh.seek(0)
    print("cat on disk:", fh.read().count(b"cat"))
with mmap.mmap(-1, 32) as anon:
    anon.write(b"anonymous")
    print(anon[:12])
