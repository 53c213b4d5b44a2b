import sympy as sp
t, w = sp.symbols("t w", positive=True)
print(sp.laplace_transform(sp.exp(-w * t), t, sp.symbols("s"))[0], sp.ccode(sp.sqrt(t) + 1), sp.N(sp.pi, 30))
print(sp.pretty(sp.Rational(1, 3) + sp.sqrt(2)))
