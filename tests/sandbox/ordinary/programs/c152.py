import fcntl, mmap, os
with open("d.bin", "w+b") as f:
    fcntl.flock(f, fcntl.LOCK_EX); f.truncate(4096)
    with mmap.mmap(f.fileno(), 0) as m: m[:5] = b"hello"; m.flush()
    fcntl.lockf(f, fcntl.LOCK_UN); print(f.read(5)); os.fsync(f.fileno())
os.utime("d.bin", (0, 0)); print(os.stat("d.bin").st_mtime, os.access("d.bin", os.W_OK))
