from sympy import Eq, FiniteSet, S, factor, linsolve, nonlinsolve, nsolve, solve, solveset, symbols, cos, expand

x, y, z = symbols("x y z", real=True)

print(solve(x**2 - 5 * x + 6, x))
print(solveset(Eq(x**3 - x, 0), x, domain=S.Reals))
print(linsolve([x + y + z - 6, 2 * x - y + z - 3, x + 2 * y - z - 2], (x, y, z)))
print(sorted(nonlinsolve([x**2 + y**2 - 25, x - y - 1], [x, y]), key=str))
print("cos(x)=x at", nsolve(cos(x) - x, x, 1))

p = expand((x - 1) * (x + 2) ** 2 * (x**2 + 1))
print(p, "=", factor(p))
print("roots over C:", solve(p.subs(x, symbols("w")), symbols("w")))
print(solve([x + 2 > 5, x < 10], x))
