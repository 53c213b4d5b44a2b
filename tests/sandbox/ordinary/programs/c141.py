import resource, os, gc, tracemalloc
tracemalloc.start(); x = [bytes(1000) for _ in range(100)]
print(tracemalloc.get_traced_memory()[0] > 100000, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0, gc.collect() >= 0)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE); print(soft > 0)
with open("/proc/self/statm") as f: print(int(f.read().split()[1]) > 0)
