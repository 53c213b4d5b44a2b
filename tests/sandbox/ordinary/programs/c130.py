import tempfile, os
fd, path = tempfile.mkstemp(suffix=".csv"); os.write(fd, b"a,b\n"); os.close(fd)
print(open(path).read().strip(), oct(os.stat(path).st_mode & 0o777)); os.remove(path)
t = tempfile.NamedTemporaryFile("w+", delete=False); t.write("kept"); t.close(); print(open(t.name).read()); os.unlink(t.name)
print(tempfile.gettempdir() != "")
