import matplotlib.pyplot as plt
import numpy as np
x = np.linspace(0, 1, 20)
plt.plot(x, x**2, "o-", label=r"$x^2$")
plt.title(r"$\int_0^1 x^2 dx = \frac{1}{3}$")
plt.legend()
plt.savefig("square.svg")
print("<svg" in open("square.svg").read())
