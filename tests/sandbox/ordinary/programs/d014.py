import itertools


def primes():
    found = []
    for number in itertools.count(2):
        if all(number % prime for prime in found):
            found.append(number)
            yield number


print(list(itertools.islice(primes(), 15)))
print(sum(itertools.takewhile(lambda p: p < 200, primes())))
print(["".join(p) for p in itertools.permutations("abc", 2)])
