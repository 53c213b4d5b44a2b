from multiprocessing import shared_memory, Process
import numpy as np
def fill(name):
    m = shared_memory.SharedMemory(name); a = np.ndarray((4,), np.int64, m.buf); a[:] = [1, 2, 3, 4]; m.close()
m = shared_memory.SharedMemory(create=True, size=32)
p = Process(target=fill, args=(m.name,)); p.start(); p.join()
print(np.ndarray((4,), np.int64, m.buf).tolist())
m.close(); m.unlink()
