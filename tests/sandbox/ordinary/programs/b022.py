from multiprocessing import Manager, Process


def tally(shared, key, numbers):
    shared[key] = {"count": len(numbers), "sum": sum(numbers)}


if __name__ == "__main__":
    groups = {"even": list(range(0, 20, 2)), "odd": list(range(1, 20, 2)), "tens": [10, 20]}
    with Manager() as manager:
        shared = manager.dict()
        procs = [Process(target=tally, args=(shared, k, v)) for k, v in groups.items()]
        for p in procs:
            p.start()
        for p in procs:
            p.join()
        for key in sorted(shared.keys()):
            print(key, shared[key])
    print("manager stopped")
