from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
def slow(n): return n * 10
if __name__ == "__main__":
    with ProcessPoolExecutor(2) as ex:
        print(sorted(f.result() for f in as_completed([ex.submit(slow, i) for i in range(5)])))
    with ThreadPoolExecutor(4, thread_name_prefix="io") as ex:
        print(list(ex.map(str.upper, ["a", "b"])))
