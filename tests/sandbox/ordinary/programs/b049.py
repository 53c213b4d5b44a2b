import atexit
import sys


def goodbye(name, adjective="nice"):
    print(f"Goodbye {name}, it was {adjective} to meet you")


@atexit.register
def last():
    print("registered first, runs last")
    sys.stdout.flush()


atexit.register(goodbye, "Ann")
atexit.register(goodbye, "Bob", adjective="odd")


def never():
    print("never printed")


atexit.register(never)
atexit.unregister(never)
print("main program ends")
