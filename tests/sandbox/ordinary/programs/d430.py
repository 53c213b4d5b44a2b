import cProfile
import io
import pstats
import tracemalloc

tracemalloc.start()
profile = cProfile.Profile()
profile.enable()
rows = [str(n) * 10 for n in range(2000)]
rows.sort()
profile.disable()
out = io.StringIO()
pstats.Stats(profile, stream=out).sort_stats("cumulative").print_stats(3)
print("function calls" in out.getvalue(), tracemalloc.get_traced_memory()[1] > 10_000, rows[1])
