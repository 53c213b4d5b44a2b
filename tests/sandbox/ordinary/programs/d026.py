from concurrent.futures import ThreadPoolExecutor, as_completed


def word_count(text):
    return len(text.split())


pages = {"home": "welcome to the shop", "about": "we sell tea", "help": "call us any time you like"}
with ThreadPoolExecutor(max_workers=3) as pool:
    futures = {pool.submit(word_count, text): name for name, text in pages.items()}
    counts = {futures[done]: done.result() for done in as_completed(futures)}
print(sorted(counts.items()))
