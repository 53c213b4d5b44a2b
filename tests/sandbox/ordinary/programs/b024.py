from concurrent.futures import ThreadPoolExecutor, as_completed


def parse(text):
    return int(text)


inputs = ["12", "seven", "40", "", "-3"]
outcome = {}
with ThreadPoolExecutor(max_workers=3, thread_name_prefix="parse") as pool:
    futures = {pool.submit(parse, text): text for text in inputs}
    for future in as_completed(futures):
        text = futures[future]
        try:
            outcome[text] = future.result()
        except ValueError as exc:
            outcome[text] = str(exc)
for text in inputs:
    print(repr(text), "=>", outcome[text])
