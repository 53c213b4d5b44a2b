import atexit, sys, weakref
class R:
    def __del__(self): print("del")
atexit.register(print, "atexit"); r = R(); weakref.finalize(r, print, "finalized")
f = open("late.txt", "w"); f.write("unflushed"); print("end")
