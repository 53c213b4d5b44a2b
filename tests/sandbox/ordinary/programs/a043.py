from scipy.optimize import linprog, minimize

# maximise 40 x + 30 y + 20 z
profit = [40, 30, 20]
A = [
    [2, 1, 1],   # machine hours
    [1, 2, 1],   # labour hours
    [3, 1, 2],   # material
]
limits = [100, 80, 120]
res = linprog([-p for p in profit], A_ub=A, b_ub=limits, bounds=[(0, None)] * 3, method="highs")
print("status:", res.status)
print("plan:", [round(float(v), 3) for v in res.x])
print("profit: %.2f" % -res.fun)
print("slack:", [round(float(s), 3) for s in res.slack])

# smooth constrained problem
cons = [{"type": "eq", "fun": lambda v: v[0] + v[1] - 1}]
opt = minimize(lambda v: v[0] ** 2 + 2 * v[1] ** 2 + v[0] * v[1], [0.5, 0.5], constraints=cons, bounds=[(0, 1)] * 2)
print("min risk weights:", [round(float(v), 3) for v in opt.x], "risk %.4f" % opt.fun)
