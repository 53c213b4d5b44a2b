import psutil

process = psutil.Process()
print(process.name() != "", process.memory_info().rss > 0, process.num_threads() >= 1)
print(psutil.cpu_count() >= 1, psutil.virtual_memory().total > 0, 0 <= psutil.disk_usage(".").percent <= 100)
print(process.parent() is None or process.parent().pid >= 0, len(psutil.pids()) >= 1)
