from sympy import Rational, Symbol, cse, pprint, sqrt, symbols, together, trigsimp, sin, cos, nsimplify, Piecewise, plot
from sympy.physics.units import convert_to, hour, joule, kilogram, kilometer, meter, second
from sympy.stats import Binomial, Die, E, P, density, variance

speed = 90 * kilometer / hour
print("speed:", convert_to(speed, [meter, second]))
energy = Rational(1, 2) * 1200 * kilogram * convert_to(speed, [meter, second]) ** 2
print("kinetic:", convert_to(energy, joule))

d1, d2 = Die("d1", 6), Die("d2", 6)
print("E:", E(d1 + d2), "Var:", variance(d1 + d2), "P(>9):", P(d1 + d2 > 9))
b = Binomial("b", 5, Rational(1, 3))
print("binomial:", dict(density(b).dict))

x = symbols("x")
pprint(together(1 / x + 1 / (x + 1)), use_unicode=True)
pprint(sqrt(Symbol("alpha") / 2), use_unicode=False)
print(trigsimp(sin(x) ** 4 - cos(x) ** 4), nsimplify(0.3333333333, tolerance=1e-6))
print(cse([(x + 1) ** 2 + sqrt(x + 1), (x + 1) ** 3]))
