from scipy.optimize import linprog, curve_fit, milp, LinearConstraint, root
import numpy as np
r = linprog([-1, -2], A_ub=[[1, 1]], b_ub=[4], bounds=[(0, 3), (0, 3)]); print(r.x, r.fun); p, _ = curve_fit(lambda x, a, b: a * x + b, [0, 1, 2], [1, 3, 5]); print(p.round(3)); print(milp([-1, -1], constraints=LinearConstraint([[2, 1]], ub=[5]), integrality=[1, 1], bounds=None).status, root(lambda x: x**2 - 4, 1).x.round(4))
