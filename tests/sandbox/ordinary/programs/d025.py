import threading

lock = threading.Lock()
total = 0


def add(times):
    global total
    for _ in range(times):
        with lock:
            total += 1


threads = [threading.Thread(target=add, args=(500,)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(total)
