import sympy as sp
from sympy.parsing.sympy_parser import parse_expr
from sympy.utilities.autowrap import autowrap
x, n = sp.symbols("x n"); print(parse_expr("x**2 + 2*x + 1").factor(), sp.limit(sp.sin(x) / x, x, 0), sp.summation(1 / n**2, (n, 1, sp.oo)), sp.Matrix([[2, 1], [1, 2]]).eigenvals(), sp.isprime(2**61 - 1), sp.simplify(sp.sin(x)**2 + sp.cos(x)**2), sp.nsolve(sp.cos(x) - x, 1), sp.Poly(x**3 - 1).nroots(n=3)); sp.init_printing(); sp.pprint(sp.Integral(x, x)); sp.preview is not None
