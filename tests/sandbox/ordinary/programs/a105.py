from sympy import (binomial, bell, catalan, divisors, factorial, factorint, fibonacci, gcd,
                   isprime, lcm, nextprime, prime, primerange, totient)
from sympy.ntheory import discrete_log, primitive_root
from sympy.ntheory.modular import crt
from sympy.utilities.iterables import multiset_permutations, partitions

print("360 =", " * ".join(f"{p}^{e}" for p, e in factorint(360).items()))
print("divisors:", divisors(360)[:10], "...")
print("primes:", list(primerange(1, 40)), "100th:", prime(100))
print("mersenne 2^61-1 prime:", isprime(2**61 - 1), "next after 10^9:", nextprime(10**9))
print("totient(97*89):", totient(97 * 89), "gcd/lcm:", gcd(84, 126), lcm(84, 126))
print("crt:", crt([3, 5, 7], [2, 3, 2]))
print("primitive root mod 41:", primitive_root(41), "log:", discrete_log(41, 15, 7))
print("C(20,6):", binomial(20, 6), "20!:", factorial(20), "F50:", fibonacci(50))
print("catalan:", [catalan(n) for n in range(8)], "bell:", [bell(n) for n in range(7)])
print("perms of aab:", ["".join(p) for p in multiset_permutations("aab")])
print("partitions of 6:", sum(1 for _ in partitions(6)))
