import threading


class Buffer:
    def __init__(self, size):
        self.items, self.size = [], size
        self.cond = threading.Condition()

    def put(self, item):
        with self.cond:
            self.cond.wait_for(lambda: len(self.items) < self.size)
            self.items.append(item)
            self.cond.notify_all()

    def get(self):
        with self.cond:
            self.cond.wait_for(lambda: self.items)
            item = self.items.pop(0)
            self.cond.notify_all()
            return item


buffer = Buffer(2)


def produce():
    for ch in "threads!":
        buffer.put(ch)


t = threading.Thread(target=produce)
t.start()
print("".join(buffer.get() for _ in range(8)))
t.join()
print("left over:", len(buffer.items))
