mem = {}
for line in open("/proc/meminfo"):
    k, v = line.split(":"); mem[k] = int(v.split()[0])
print(mem["MemTotal"] > mem["MemFree"] > 0)
print(open("/proc/self/status").read().startswith("Name:"), float(open("/proc/uptime").read().split()[0]) > 0)
print(sum(1 for l in open("/proc/cpuinfo") if l.startswith("processor")) > 0)
