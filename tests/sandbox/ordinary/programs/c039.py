from scipy import integrate
import numpy as np
sol = integrate.solve_ivp(lambda t, y: -0.5 * y, [0, 10], [2.0], t_eval=[0, 5, 10])
print(sol.y[0].round(3))
print(round(integrate.quad(np.sin, 0, np.pi)[0], 8))
