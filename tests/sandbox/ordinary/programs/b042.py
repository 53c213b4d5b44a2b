import hashlib
import os
import shutil
import tempfile


def digests(folder):
    found = {}
    for base, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(base, name)
            with open(path, "rb") as fh:
                found[os.path.relpath(path, folder)] = hashlib.md5(fh.read()).hexdigest()[:8]
    return found


with tempfile.TemporaryDirectory() as tmp:
    site = os.path.join(tmp, "site")
    os.makedirs(os.path.join(site, "css"))
    for name, body in [("index.html", "<h1>hi</h1>"), ("css/a.css", "h1{color:red}")]:
        with open(os.path.join(site, name), "w") as fh:
            fh.write(body)
    for fmt in ("zip", "gztar"):
        archive = shutil.make_archive(os.path.join(tmp, "out"), fmt, site)
        target = os.path.join(tmp, fmt)
        shutil.unpack_archive(archive, target)
        print(fmt, os.path.basename(archive), digests(target) == digests(site))
    for name, digest in sorted(digests(site).items()):
        print(digest, name)
