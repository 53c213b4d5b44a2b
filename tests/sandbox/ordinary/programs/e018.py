from decimal import Decimal, getcontext

getcontext().prec = 30
print(Decimal(2).sqrt(), Decimal("0.1") + Decimal("0.2"), 0.1 + 0.2)
print(sum([Decimal("19.99")] * 3), Decimal("10") / 3)
