import functools


@functools.lru_cache(maxsize=None)
def change(amount, coins=(50, 20, 10, 5, 2, 1)):
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return change(amount - coins[0], coins) + change(amount, coins[1:])


print([change(n) for n in (5, 10, 50, 100, 200)])
print(change.cache_info().misses > 100)
