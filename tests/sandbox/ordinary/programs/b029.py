import io
import logging
import logging.handlers
import queue
import threading

stream = io.StringIO()
target = logging.StreamHandler(stream)
target.setFormatter(logging.Formatter("%(threadName)s|%(message)s"))
q = queue.SimpleQueue()
listener = logging.handlers.QueueListener(q, target)
listener.start()
log = logging.getLogger("queued")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(logging.handlers.QueueHandler(q))


def work(name):
    for i in range(3):
        log.info("%s step %d", name, i)


threads = [threading.Thread(target=work, args=(n,), name=f"T-{n}") for n in ("a", "b")]
for t in threads:
    t.start()
for t in threads:
    t.join()
listener.stop()
for line in sorted(stream.getvalue().splitlines()):
    print(line)
