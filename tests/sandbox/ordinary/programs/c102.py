import sympy as sp
x, y = sp.symbols("x y")
print(sp.solve([x + y - 3, x - y - 1], [x, y]), sp.integrate(sp.exp(-x**2), (x, -sp.oo, sp.oo)))
print(sp.latex(sp.Matrix([[x, 1], [1, x]]).det()))
