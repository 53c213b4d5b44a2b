from tqdm.contrib.concurrent import thread_map
from tqdm.auto import trange
print(thread_map(abs, [-1, -2], max_workers=2, disable=False))
with trange(3) as t:
    for _ in t: t.set_postfix(x=1)
