import os
import sys

print(sys.version_info >= (3, 11), sys.byteorder, sys.maxsize == 2**63 - 1)
os.environ["APP_MODE"] = "test"
print(os.environ.get("APP_MODE"), os.getenv("APP_MISSING", "unset"), os.path.expandvars("$APP_MODE-1"))
print(os.path.splitext("report.tar.gz"), os.path.commonpath(["/usr/lib/a", "/usr/lib/b"]), os.path.relpath("/a/b", "/a/c"))
print(os.sep, os.linesep == "\n", os.cpu_count() >= 1)
