from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Array, Process, Value


def word_lengths(text):
    return [len(word) for word in text.split()]


def deposit(balance, history, times):
    for _ in range(times):
        with balance.get_lock():
            balance.value += 1
            history[0] += 2


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(word_lengths, ["a bb ccc", "dddd", ""])))
    balance, history = Value("i", 0), Array("i", 2)
    people = [Process(target=deposit, args=(balance, history, 100)) for _ in range(3)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    print(balance.value, history[0])
