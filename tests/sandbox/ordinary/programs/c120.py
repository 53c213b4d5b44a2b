from joblib import Parallel, delayed, Memory
print(Parallel(n_jobs=2)(delayed(pow)(i, 2) for i in range(5)))
mem = Memory("cachedir", verbose=0)
@mem.cache
def f(x): print("computing"); return x + 1
print(f(1), f(1))
