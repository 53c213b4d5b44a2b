import os, sys
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    os.close(r); os.write(w, b"from child"); os._exit(0)
os.close(w); print(os.read(r, 100), os.waitpid(pid, 0)[1])
os.environ["STAGE"] = "test"; os.system("echo stage $STAGE")
