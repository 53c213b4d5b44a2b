from fractions import Fraction
import math

print(sum(Fraction(1, n) for n in range(1, 8)), Fraction("0.125"), Fraction(math.pi).limit_denominator(1000))
print(math.comb(10, 3), math.gcd(84, 36), math.lcm(4, 6, 10), math.isqrt(200), math.hypot(3, 4), math.prod(range(1, 7)))
print(math.isclose(0.1 + 0.2, 0.3), math.fsum([0.1] * 10), math.dist((0, 0), (3, 4)))
