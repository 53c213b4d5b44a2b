import signal
import subprocess
import sys

child = subprocess.Popen([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(30)"], stdout=subprocess.PIPE, text=True)
print(child.stdout.readline().strip())
child.send_signal(signal.SIGTERM)
print(child.wait(timeout=20), child.poll() == -signal.SIGTERM)
child.stdout.close()
print(subprocess.getoutput("echo one; echo two >&2").split(), subprocess.call(["true"]), subprocess.getstatusoutput("exit 2")[0])
