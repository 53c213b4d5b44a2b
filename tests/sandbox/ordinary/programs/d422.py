import os
import sys

child = os.fork()
if child == 0:
    os._exit(7)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status))
reader, writer = os.pipe()
if os.fork() == 0:
    os.close(reader)
    os.write(writer, b"from the child")
    os._exit(0)
os.close(writer)
with os.fdopen(reader) as pipe:
    print(pipe.read())
os.wait()
sys.stdout.flush()
