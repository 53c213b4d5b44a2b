import os, stat, time, errno
open("f", "w").close(); os.chmod("f", stat.S_IRUSR); print(stat.filemode(os.stat("f").st_mode), os.access("f", os.R_OK)); os.link("f", "g"); os.rename("g", "h"); print(os.path.samefile("f", "h"), os.stat("f").st_nlink, os.umask(0o22) >= 0); os.makedirs("a/b/c", exist_ok=True); os.removedirs("a/b/c"); print(os.path.exists("a"), os.path.commonpath(["/a/b", "/a/c"]), os.path.splitext("x.tar.gz"), os.path.relpath("/a", "/b"), os.path.expandvars("$HOME") != "$HOME", time.time() > 1e9, os.path.ismount("/"), os.statvfs(".").f_bsize > 0)
try: os.rmdir("missing")
except OSError as e: print(errno.errorcode[e.errno])
try: os.kill(os.getpid(), 0); print("alive", os.getpgid(0) >= 0, os.getpriority(os.PRIO_PROCESS, 0) >= -20, len(os.sched_getaffinity(0)) > 0, os.nice(0) >= 0, os.times().user >= 0)
except OSError as e: print(e)
