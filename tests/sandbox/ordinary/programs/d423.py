import subprocess
import sys

script = "import sys\nfor line in sys.stdin:\n    print(line.strip()[::-1], flush=True)\n"
process = subprocess.Popen([sys.executable, "-u", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for word in ("stressed", "drawer"):
    process.stdin.write(word + "\n")
    process.stdin.flush()
    print(process.stdout.readline().strip())
process.stdin.close()
print(process.wait())
first = subprocess.Popen(["seq", "5"], stdout=subprocess.PIPE)
second = subprocess.run(["tail", "-n", "2"], stdin=first.stdout, capture_output=True, text=True)
first.stdout.close()
first.wait()
print(second.stdout.split())
