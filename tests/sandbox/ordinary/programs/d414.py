from multiprocessing import Process, Queue


def square(jobs, results):
    for number in iter(jobs.get, None):
        results.put((number, number * number))


if __name__ == "__main__":
    jobs, results = Queue(), Queue()
    workers = [Process(target=square, args=(jobs, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for number in range(6):
        jobs.put(number)
    for _ in workers:
        jobs.put(None)
    print(sorted(results.get() for _ in range(6)))
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers])
