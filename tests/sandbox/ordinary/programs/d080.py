import os
import stat
import time

with open("run.sh", "w") as out:
    out.write("#!/bin/sh\necho ran with $1\n")
os.chmod("run.sh", 0o755)
print(stat.filemode(os.stat("run.sh").st_mode), os.access("run.sh", os.X_OK))
os.system("./run.sh apples")
os.utime("run.sh", (1_600_000_000, 1_600_000_000))
print(time.strftime("%Y-%m-%d", time.gmtime(os.path.getmtime("run.sh"))))
os.link("run.sh", "again.sh")
os.symlink("run.sh", "link.sh")
print(os.stat("run.sh").st_nlink, os.readlink("link.sh"), os.path.islink("link.sh"))
