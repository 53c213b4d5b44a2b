from scipy import special, linalg, constants, odr
import scipy, numpy as np
print(special.gamma(5), special.erf(0.5).round(4), linalg.expm(np.zeros((2, 2))).tolist(), constants.c, linalg.lu(np.array([[4, 3], [6, 3.0]]))[2].round(2).tolist(), scipy.__version__.count("."))
