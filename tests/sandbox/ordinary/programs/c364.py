from decimal import Decimal, ROUND_HALF_UP, getcontext
from fractions import Fraction
import math, cmath, random, numbers
print(Decimal("1.005").quantize(Decimal(".01"), ROUND_HALF_UP), Fraction(3, 6), math.isclose(.1 + .2, .3), math.dist((0, 0), (3, 4)), cmath.sqrt(-4), math.prod(range(1, 6)), random.Random(1).sample(range(10), 3), isinstance(1, numbers.Real), math.lcm(4, 6), float.hex(0.5))
