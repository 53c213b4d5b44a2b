from scipy import optimize
r = optimize.minimize(lambda v: (v[0] - 1) ** 2 + (v[1] + 2) ** 2, [0, 0])
print(r.success, r.x.round(3))
print(round(optimize.brentq(lambda x: x**3 - 2, 0, 2), 6))
