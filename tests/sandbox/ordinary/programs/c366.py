import traceback, sys
def f(x): return 1 / x
try: f(0)
except ZeroDivisionError as e:
    print(traceback.format_exc().splitlines()[-1], traceback.extract_tb(e.__traceback__)[-1].name); 
    try: raise ValueError("outer") from e
    except ValueError as v: print(repr(v.__cause__), v.add_note("n"), v.__notes__)
try: raise ExceptionGroup("g", [TypeError("t"), OSError(2, "x")])
except* OSError as g: print(len(g.exceptions))
except* TypeError as g: print("t")
