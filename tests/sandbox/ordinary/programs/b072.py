import random
import statistics

rng = random.Random(20240101)
rolls = [rng.randint(1, 6) + rng.randint(1, 6) for _ in range(5000)]
for total in range(2, 13):
    share = rolls.count(total) / len(rolls)
    print(f"{total:2} {'#' * round(share * 100)}")
print("mean", round(statistics.mean(rolls), 4), "stdev", round(statistics.stdev(rolls), 4))
print("median", statistics.median(rolls), "mode", statistics.mode(rolls))
print("quartiles", statistics.quantiles(rolls, n=4))
deck = list(range(10))
rng.shuffle(deck)
print(deck, rng.sample(deck, 3), rng.choices("abc", [5, 1, 1], k=6))
inside = sum(rng.random() ** 2 + rng.random() ** 2 < 1 for _ in range(20000))
print("pi is about", round(4 * inside / 20000, 3))
