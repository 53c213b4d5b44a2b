import numpy as np
import sympy as sp

x, y = sp.symbols("x y")
f = sp.sin(x) * sp.exp(-(y**2)) + x * y
grad = [sp.diff(f, v) for v in (x, y)]
hess = sp.hessian(f, (x, y))

f_num = sp.lambdify((x, y), f, "numpy")
g_num = sp.lambdify((x, y), grad, "numpy")

pts = np.random.default_rng(1).uniform(-1, 1, size=(5, 2))
h = 1e-6
for px, py in pts:
    gx, gy = g_num(px, py)
    nx = (f_num(px + h, py) - f_num(px - h, py)) / (2 * h)
    ny = (f_num(px, py + h) - f_num(px, py - h)) / (2 * h)
    print(f"({px:+.3f},{py:+.3f}) grad=({gx:+.4f},{gy:+.4f}) numeric=({nx:+.4f},{ny:+.4f})")
print("Hessian:", hess.tolist())
print("C code:", sp.ccode(f))
