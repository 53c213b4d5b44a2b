from multiprocessing import Process, Queue


def square(inbox, outbox):
    for n in iter(inbox.get, None):
        outbox.put((n, n * n))
    outbox.put(None)


if __name__ == "__main__":
    inbox, outbox = Queue(), Queue()
    child = Process(target=square, args=(inbox, outbox), name="squarer")
    child.start()
    for n in [3, 1, 4, 1, 5, 9]:
        inbox.put(n)
    inbox.put(None)
    for n, sq in iter(outbox.get, None):
        print(n, "->", sq)
    child.join()
    print("exit code", child.exitcode)
