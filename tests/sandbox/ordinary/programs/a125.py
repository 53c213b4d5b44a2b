import random
from tqdm import tqdm

random.seed(7)
readings = [random.gauss(50, 10) for _ in range(2000)]

running = 0.0
highest = float("-inf")
with tqdm(readings, desc="processing", unit="rec", ncols=80) as bar:
    for i, r in enumerate(bar, 1):
        running += r
        highest = max(highest, r)
        if i % 500 == 0:
            bar.set_postfix(mean=f"{running / i:.2f}")

print("records:", len(readings))
print("mean: %.3f" % (running / len(readings)))
print("max: %.3f" % highest)
