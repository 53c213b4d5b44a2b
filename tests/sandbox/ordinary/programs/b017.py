import multiprocessing as mp


def weigh(word):
    return word, sum(ord(c) - 96 for c in word)


if __name__ == "__main__":
    pool = mp.Pool(processes=2)
    words = ["oak", "birch", "maple", "willow", "ash"]
    pending = pool.apply_async(weigh, ("cedar",))
    for word, score in pool.imap(weigh, words):
        print(f"{word:8}{score:4}")
    print(pending.get(timeout=10))
    print("workers in the pool:", len(mp.active_children()))
