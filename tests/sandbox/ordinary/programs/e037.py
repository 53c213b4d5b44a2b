primes = {n for n in range(2, 60)} - {a * b for a in range(2, 30) for b in range(2, 30)}
print(sorted(primes))
print([(p, p + 2) for p in sorted(primes) if p + 2 in primes])
factors, n, d = [], 5040, 2
while n > 1:
    while n % d == 0:
        factors.append(d)
        n //= d
    d += 1
print(factors)
