import weakref, gc, copy, pickle, sys, ctypes, collections
class N:
    def __init__(s): s.me = s
    def __reduce__(s): return (N, ())
n = N(); r = weakref.ref(n); d = copy.deepcopy({"a": [1]}); del n; gc.collect(); print(r() is None, d, pickle.loads(pickle.dumps(N())).__class__.__name__, sys.getsizeof([]) > 0, sys.getrefcount(d) > 0, collections.ChainMap({"a": 1}, {"b": 2})["b"], collections.OrderedDict(a=1), collections.deque([1, 2, 3], 2), sys.intern("x"), sys.getrecursionlimit() >= 1000, gc.get_count()[0] >= 0, ctypes.sizeof(ctypes.c_int), ctypes.create_string_buffer(b"x").raw)
