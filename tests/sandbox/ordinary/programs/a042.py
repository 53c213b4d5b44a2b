import numpy as np
from scipy.integrate import quad, solve_ivp


def lotka_volterra(t, z, a, b, c, d):
    x, y = z
    return [a * x - b * x * y, -c * y + d * x * y]


sol = solve_ivp(lotka_volterra, (0, 30), [10, 5], args=(1.1, 0.4, 0.4, 0.1),
                t_eval=np.linspace(0, 30, 301), rtol=1e-8, atol=1e-8)
prey, pred = sol.y
print("solver success:", sol.success)
print("prey  min/max: %.3f %.3f" % (prey.min(), prey.max()))
print("pred  min/max: %.3f %.3f" % (pred.min(), pred.max()))
for ti in (0, 10, 20, 30):
    i = int(ti * 10)
    print(f"t={ti:2d} prey={prey[i]:.3f} predator={pred[i]:.3f}")

area, err = quad(lambda u: np.exp(-u**2 / 2) / np.sqrt(2 * np.pi), -1.96, 1.96)
print("normal area within 1.96 sd: %.5f" % area)
