import gc
import weakref


class Node:
    def __init__(self, name):
        self.name = name
        self.other = None


cache = weakref.WeakValueDictionary()
a = cache["a"] = Node("a")
b = cache["b"] = Node("b")
weakref.finalize(a, print, "finalized a")
fin = weakref.finalize(b, print, "finalized b")
print(sorted(cache))
del a
print(sorted(cache), "fin alive:", fin.alive)
b.other = b
del b
print("cycle keeps it:", fin.alive)
gc.collect()
print("after collect:", fin.alive, sorted(cache))
keep = Node("keep")
weakref.finalize(keep, print, "finalized at exit")
print("end")
