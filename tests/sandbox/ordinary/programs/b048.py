import os
import pathlib

proc = pathlib.Path("/proc")
mem = {}
for line in (proc / "meminfo").read_text().splitlines():
    key, value = line.split(":", 1)
    mem[key] = int(value.split()[0])
print("total above free:", mem["MemTotal"] > mem["MemFree"])
cpus = [l for l in (proc / "cpuinfo").read_text().splitlines() if l.startswith("processor")]
print("processors found:", len(cpus) > 0)
status = dict(
    line.split(":\t", 1) for line in (proc / "self/status").read_text().splitlines() if ":\t" in line
)
print("own pid matches:", int(status["Pid"]) == os.getpid())
print("threads:", status["Threads"].strip())
print("has uptime:", float((proc / "uptime").read_text().split()[0]) > 0)
mounts = [line.split()[1] for line in (proc / "mounts").read_text().splitlines()]
print("proc mounted:", "/proc" in mounts)
fds = os.listdir("/proc/self/fd")
print("stdin, stdout and stderr open:", {"0", "1", "2"} <= set(fds))
