import math

import numpy as np


def black_scholes_call(s, k, r, sigma, t):
    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    N = lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2)))
    return s * N(d1) - k * math.exp(-r * t) * N(d2)


def monte_carlo_call(s, k, r, sigma, t, n, seed=0):
    z = np.random.default_rng(seed).standard_normal(n)
    z = np.concatenate([z, -z])
    st = s * np.exp((r - sigma**2 / 2) * t + sigma * math.sqrt(t) * z)
    payoff = np.exp(-r * t) * np.maximum(st - k, 0)
    return payoff.mean(), payoff.std(ddof=1) / math.sqrt(payoff.size)


exact = black_scholes_call(100, 105, 0.03, 0.2, 1.0)
print(f"exact        {exact:.4f}")
for n in (1_000, 10_000, 100_000, 500_000):
    est, se = monte_carlo_call(100, 105, 0.03, 0.2, 1.0, n)
    print(f"n={n:>7,}  {est:.4f} +/- {se:.4f}  error={est - exact:+.4f}")
