import sympy as sp
x = sp.symbols("x")
p = sp.plot(x**2, (x, 0, 2), show=False)
p.save("p.png")
import os
print(os.path.exists("p.png"), sp.dsolve(sp.Function("f")(x).diff(x) - sp.Function("f")(x)))
