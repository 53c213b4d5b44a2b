import numpy as np, threading
big = np.random.default_rng(0).random((300, 300)); out = {}
def mul(i): out[i] = float((big @ big).trace())
ts = [threading.Thread(target=mul, args=(i,)) for i in range(4)]; [t.start() for t in ts]; [t.join() for t in ts]; print(len({round(v, 4) for v in out.values()}))
