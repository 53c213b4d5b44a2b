import tempfile, os, atexit, shutil
d = tempfile.mkdtemp(); atexit.register(shutil.rmtree, d)
with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=d) as f: f.write("x"); f.flush(); print(os.path.getsize(f.name))
with tempfile.TemporaryFile() as t: t.write(b"abc"); t.seek(1); print(t.read())
print(os.stat(d).st_mode & 0o777 == 0o700, tempfile.gettempprefix()); tempfile.tempdir = os.getcwd(); print(os.path.dirname(tempfile.mkstemp()[1]) == os.getcwd())
