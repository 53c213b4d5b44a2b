import threading

barrier = threading.Barrier(3)
local = threading.local()
results = {}
results_lock = threading.Lock()


def phase(n):
    local.value = n * 10
    barrier.wait(5)
    local.value += 1
    barrier.wait(5)
    with results_lock:
        results[threading.current_thread().name] = local.value


threads = [threading.Thread(target=phase, args=(i,), name=f"w{i}") for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for name in sorted(results):
    print(name, results[name])
print("main has its own local:", hasattr(local, "value"))
