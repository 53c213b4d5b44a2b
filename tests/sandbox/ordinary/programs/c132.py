import tarfile, os
os.makedirs("src/sub"); open("src/a.py", "w").write("x=1\n"); open("src/sub/b.py", "w").write("y=2\n"); os.symlink("a.py", "src/link.py")
for mode in ("gz", "bz2", "xz"):
    with tarfile.open(f"s.tar.{mode}", f"w:{mode}") as t: t.add("src", filter=lambda i: None if i.name.endswith("b.py") else i)
with tarfile.open("s.tar.xz") as t:
    print(t.getnames()); t.extractall("dst", filter="data")
print(os.readlink("dst/src/link.py"))
