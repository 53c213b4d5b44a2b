import subprocess

try:
    subprocess.run(["sleep", "20"], timeout=0.1)
except subprocess.TimeoutExpired as error:
    print("timed out:", error.cmd)
try:
    subprocess.run(["sh", "-c", "echo oops >&2; exit 4"], check=True, capture_output=True, text=True)
except subprocess.CalledProcessError as error:
    print(error.returncode, error.stderr.strip())
try:
    subprocess.run(["no-such-program-here"])
except FileNotFoundError:
    print("not installed")
done = subprocess.run("read name; echo hi $name", shell=True, input=b"Ann\n", stdout=subprocess.PIPE)
print(done.stdout)
