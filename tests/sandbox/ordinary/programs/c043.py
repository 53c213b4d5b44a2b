from scipy.optimize import differential_evolution
r = differential_evolution(lambda x: (x[0] - 2) ** 2, [(-5, 5)], seed=1, workers=1, updating="immediate")
print(round(float(r.x[0]), 3))
