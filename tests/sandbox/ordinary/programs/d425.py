import time

start = time.perf_counter()
cpu = time.process_time()
total = sum(n * n for n in range(50_000))
print(total, time.perf_counter() > start, time.process_time() >= cpu)
print(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(86_400 * 365)), time.time() > 1_600_000_000)
print(time.strptime("12 Mar 2024", "%d %b %Y").tm_yday, time.localtime().tm_year >= 2024)
