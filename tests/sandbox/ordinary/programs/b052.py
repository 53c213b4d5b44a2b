class Handle:
    opened = 0

    def __init__(self, name):
        self.name = name
        type(self).opened += 1
        print("open", name)

    def __del__(self):
        print("close", self.name)


def scoped():
    inner = Handle("inner")
    return inner.name.upper()


print(scoped())
first = Handle("first")
second = Handle("second")
first = None
print("first dropped")
handles = [Handle(f"h{i}") for i in range(3)]
del handles[1]
handles.clear()
print("opened in total", Handle.opened)
