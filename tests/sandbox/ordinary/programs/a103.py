from sympy import Derivative, Eq, Function, dsolve, exp, inverse_laplace_transform, laplace_transform, sin, symbols
from sympy.solvers.ode import checkodesol

t, s = symbols("t s", positive=True)
y = Function("y")

ode = Eq(y(t).diff(t, 2) + 3 * y(t).diff(t) + 2 * y(t), 0)
sol = dsolve(ode, y(t), ics={y(0): 1, y(t).diff(t).subs(t, 0): 0})
print(sol)
print("verified:", checkodesol(ode, sol))

k = symbols("k", positive=True)
print(dsolve(Derivative(y(t), t) + k * y(t), y(t)))

F = laplace_transform(exp(-2 * t) * sin(3 * t), t, s, noconds=True)
print("F(s) =", F)
print("back =", inverse_laplace_transform(1 / (s * (s + 1)), s, t))
values = [round(float(sol.rhs.subs(t, v)), 4) for v in (0, 1, 2)]
print("y(0..2):", values)
