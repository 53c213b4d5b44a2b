import cProfile, pstats, io, timeit, trace, dis, warnings
p = cProfile.Profile(); p.enable(); sorted(range(1000)); p.disable(); p.dump_stats("prof.out"); s = io.StringIO(); pstats.Stats("prof.out", stream=s).print_stats(1); print("function calls" in s.getvalue())
print(timeit.timeit("1", number=10) >= 0); warnings.warn("careful"); dis.dis(lambda: 1, file=s)
