import os
import sys

sys.stdout.flush()
read_end, write_end = os.pipe()
pid = os.fork()
if pid == 0:
    os.close(read_end)
    os.write(write_end, b"greetings from the child")
    os.close(write_end)
    os._exit(7)
os.close(write_end)
with os.fdopen(read_end) as fh:
    print(fh.read())
done, status = os.waitpid(pid, 0)
print("waited for the right one:", done == pid)
print("exit status", os.waitstatus_to_exitcode(status))
print("system", os.waitstatus_to_exitcode(os.system("exit 4")))
with os.popen("printf 'b\\na\\n' | sort") as pipe:
    print(pipe.read().split())
old = os.umask(0o077)
print("umask set:", oct(os.umask(old)))
