from sympy import cos, diff, exp, integrate, limit, oo, pi, series, simplify, sin, sqrt, symbols

x, a = symbols("x a", positive=True)

f = x**2 * exp(-x) * sin(x)
print("f'  =", simplify(diff(f, x)))
print("int =", integrate(x * cos(x), x))
print("gaussian =", integrate(exp(-a * x**2), (x, -oo, oo)))
print("limit =", limit((1 + a / x) ** x, x, oo))
print("series =", series(sqrt(1 + x), x, 0, 5))
print("definite =", integrate(sin(x) ** 2, (x, 0, pi)))
print("numeric =", integrate(exp(-x**2), (x, 0, 1)).evalf(12))
