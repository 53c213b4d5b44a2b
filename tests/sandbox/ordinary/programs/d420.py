import atexit
import tempfile
from pathlib import Path

folder = tempfile.TemporaryDirectory()
report = Path(folder.name) / "report.txt"
atexit.register(lambda: print("bye"))
atexit.register(print, "saving")


class Session:
    def __init__(self, name):
        self.name = name
        print("open", name)

    def __del__(self):
        print("close", self.name)


session = Session("main")
with report.open("w") as out:
    print("line one", file=out)
print(report.read_text().strip())
Session("short")
