from multiprocessing import Manager, Process
def put(d, k): d[k] = k * 2
if __name__ == "__main__":
    with Manager() as m:
        d = m.dict()
        ps = [Process(target=put, args=(d, i)) for i in range(3)]
        for p in ps: p.start()
        for p in ps: p.join()
        print(dict(sorted(d.items())))
