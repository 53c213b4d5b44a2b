from decimal import ROUND_HALF_UP, Decimal

items = [("pens", Decimal("1.15"), 3), ("paper", Decimal("4.99"), 2), ("ink", Decimal("18.335"), 1)]
net = sum(price * count for _, price, count in items)
vat = (net * Decimal("0.19")).quantize(Decimal("0.01"), ROUND_HALF_UP)
for name, price, count in items:
    print(f"{name:8}{count:3} x {price:>8} = {price * count:>9}")
print(f"net {net}  vat {vat}  total {(net + vat).quantize(Decimal('0.01'), ROUND_HALF_UP)}")
