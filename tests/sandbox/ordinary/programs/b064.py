from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from fractions import Fraction

prices = [Decimal("19.99"), Decimal("5.01"), Decimal("0.10")]
total = sum(prices, Decimal(0))
print("total", total)
for rate in ("0.055", "0.20"):
    tax = (total * Decimal(rate)).quantize(Decimal("0.01"), ROUND_HALF_UP)
    print("tax at", rate, "is", tax)
print(Decimal("2.5").quantize(Decimal(1), ROUND_HALF_EVEN), Decimal("2.5").quantize(Decimal(1), ROUND_HALF_UP))
with localcontext() as ctx:
    ctx.prec = 40
    print(Decimal(2).sqrt())
print(Decimal(1) / Decimal(7))
try:
    Decimal("abc")
except InvalidOperation:
    print("not a number")
harmonic = sum(Fraction(1, n) for n in range(1, 11))
print(harmonic, float(harmonic))
print(Fraction(3.140625), Fraction("0.125").limit_denominator(10))
