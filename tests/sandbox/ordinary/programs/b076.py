import os
import signal
import subprocess
import sys

code = "import os,sys; print(os.environ['GREETING'], sys.stdin.read().strip()); sys.exit(5)"
done = subprocess.run(
    [sys.executable, "-c", code],
    input="there",
    text=True,
    capture_output=True,
    env=dict(os.environ, GREETING="hello"),
)
print(done.returncode, done.stdout.strip())
child = subprocess.Popen(
    [sys.executable, "-u", "-c", "import time\nprint('up')\ntime.sleep(60)"],
    stdout=subprocess.PIPE,
    text=True,
    start_new_session=True,
)
print("child says", child.stdout.readline().strip())
print("running:", child.poll() is None)
os.killpg(child.pid, signal.SIGTERM)
print("killed with", signal.Signals(-child.wait(10)).name)
child.stdout.close()
