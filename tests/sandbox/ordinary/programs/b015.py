import threading

caught = []


def hook(args):
    caught.append((args.thread.name, args.exc_type.__name__, str(args.exc_value)))


threading.excepthook = hook


def divide(a, b):
    print("dividing", a, "by", b)
    return a / b


for a, b in [(6, 3), (1, 0)]:
    t = threading.Thread(target=divide, args=(a, b), name=f"div-{a}-{b}")
    t.start()
    t.join()
for name, kind, message in caught:
    print(f"{name}: {kind}: {message}")
