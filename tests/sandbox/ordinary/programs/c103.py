import sympy as sp
x = sp.symbols("x")
f = sp.lambdify(x, sp.sin(x) ** 2 + x, "numpy")
import numpy as np
print(f(np.array([0.0, 1.0])).round(4), sp.series(sp.cos(x), x, 0, 6), sp.factorint(360))
