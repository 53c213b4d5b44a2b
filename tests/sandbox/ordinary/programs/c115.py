from multiprocessing import Process, Pipe, Value, Lock
def add(v, l, n):
    for _ in range(n):
        with l: v.value += 1
if __name__ == "__main__":
    v, l = Value("i", 0, lock=False), Lock()
    ps = [Process(target=add, args=(v, l, 50)) for _ in range(3)]
    [p.start() for p in ps]; [p.join() for p in ps]
    print(v.value, [p.exitcode for p in ps])
