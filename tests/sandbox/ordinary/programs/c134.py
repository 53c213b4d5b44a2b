import subprocess
r = subprocess.run(["ls", "/nonexistent-folder"], capture_output=True, text=True)
print(r.returncode != 0, "No such file" in r.stderr)
print(subprocess.run("echo $((6*7)); exit 3", shell=True, capture_output=True, text=True))
