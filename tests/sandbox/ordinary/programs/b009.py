import queue
import threading

tasks = queue.Queue()
lock = threading.Lock()
counts = {}


def worker():
    while True:
        word = tasks.get()
        if word is None:
            tasks.task_done()
            break
        with lock:
            counts[word] = counts.get(word, 0) + 1
        tasks.task_done()


text = "the cat sat on the mat and the dog sat by the door"
threads = [threading.Thread(target=worker) for _ in range(4)]
for t in threads:
    t.start()
for word in text.split():
    tasks.put(word)
for _ in threads:
    tasks.put(None)
tasks.join()
for t in threads:
    t.join()
for word, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])):
    print(f"{word:5} {n}")
