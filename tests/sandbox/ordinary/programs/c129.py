import tempfile, os
with tempfile.TemporaryDirectory(prefix="job-") as d:
    p = os.path.join(d, "x.txt"); open(p, "w").write("1")
    print(os.listdir(d), os.path.basename(d).startswith("job-"))
print(os.path.exists(d))
f = tempfile.SpooledTemporaryFile(max_size=10); f.write(b"x" * 50); f.seek(0); print(len(f.read()))
