import sympy as sp

x, y = sp.symbols("x y")
print(sp.expand((x + 1) ** 3), sp.factor(x**2 - 5 * x + 6), sp.diff(sp.sin(x) * x, x))
print(sp.integrate(1 / x, (x, 1, sp.E)), sp.solve([x + y - 5, x - y - 1], [x, y]), sp.limit(sp.sin(x) / x, x, 0))
print(sp.Matrix([[1, 2], [3, 4]]).inv(), sp.latex(sp.sqrt(x) / 2), sp.primefactors(2024), sp.Rational(3, 4) + sp.Rational(1, 6))
