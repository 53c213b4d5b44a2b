from multiprocessing import Lock, Process, Value, shared_memory


def fill(name, start, stop, counter, lock):
    block = shared_memory.SharedMemory(name=name)
    for i in range(start, stop):
        block.buf[i] = i * 3 % 256
        with lock:
            counter.value += 1
    block.close()


if __name__ == "__main__":
    block = shared_memory.SharedMemory(create=True, size=64)
    counter, lock = Value("i", 0), Lock()
    children = [
        Process(target=fill, args=(block.name, a, a + 32, counter, lock)) for a in (0, 32)
    ]
    for c in children:
        c.start()
    for c in children:
        c.join()
    print("writes", counter.value)
    print(list(bytes(block.buf[:64])[::8]))
    block.close()
    block.unlink()
    print("unlinked")
