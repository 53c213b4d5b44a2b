import tarfile
from io import BytesIO

buffer = BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
    for name, text in (("readme.md", "# Demo"), ("src/app.py", "print('hi')")):
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = len(text), 0o644, 1_700_000_000
        tar.addfile(info, BytesIO(text.encode()))
buffer.seek(0)
with tarfile.open(fileobj=buffer) as tar:
    for member in tar:
        print(oct(member.mode), member.size, member.name, tar.extractfile(member).read().decode())
