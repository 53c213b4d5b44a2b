def simpson(f, a, b, n=100):
    h = (b - a) / n
    return h / 3 * (f(a) + f(b) + sum((4 if k % 2 else 2) * f(a + k * h) for k in range(1, n)))


print(round(simpson(lambda x: x * x, 0, 3), 6), round(simpson(lambda x: 1 / x, 1, 2.718281828), 5))
x = 1.0
for _ in range(6):
    x -= (x * x - 2) / (2 * x)
print(f"{x:.10f}")
