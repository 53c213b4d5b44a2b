import contextvars
import threading

user = contextvars.ContextVar("user", default="nobody")
seen = []


def visit(name):
    user.set(name)
    seen.append(user.get())


for name in ("ann", "bob"):
    thread = threading.Thread(target=contextvars.copy_context().run, args=(visit, name))
    thread.start()
    thread.join()
print(seen, user.get())
ready = threading.Condition()
box = []


def consume():
    with ready:
        ready.wait_for(lambda: box)
        print("got", box.pop())


thread = threading.Thread(target=consume)
thread.start()
with ready:
    box.append("parcel")
    ready.notify()
thread.join()
