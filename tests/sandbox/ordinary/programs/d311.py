from scipy.optimize import brentq, minimize
from scipy.integrate import quad, solve_ivp
import numpy as np

print(round(brentq(lambda x: x**3 - x - 2, 1, 2), 6))
print(minimize(lambda p: (p[0] - 1) ** 2 + (p[1] + 2) ** 2, [0, 0]).x.round(3))
print(round(quad(lambda x: np.exp(-x * x), -np.inf, np.inf)[0] ** 2, 6))
decay = solve_ivp(lambda t, y: -0.5 * y, (0, 4), [10], t_eval=[0, 2, 4], rtol=1e-8)
print(decay.y[0].round(3))
