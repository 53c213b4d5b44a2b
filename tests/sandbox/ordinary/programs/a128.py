import numpy as np
from tqdm.auto import tqdm, trange

rng = np.random.default_rng(31)
X = np.c_[np.ones(200), rng.normal(size=(200, 3))]
true = np.array([1.0, -2.0, 0.5, 3.0])
y = X @ true + rng.normal(0, 0.1, 200)

results = {}
for lr in tqdm([0.01, 0.05, 0.2], desc="learning rates"):
    w = np.zeros(4)
    for _ in trange(300, desc=f"lr={lr}", leave=False):
        w -= lr * 2 / len(y) * X.T @ (X @ w - y)
    results[lr] = (np.mean((X @ w - y) ** 2), w)

for lr, (mse, w) in results.items():
    print(f"lr={lr:<5} mse={mse:.5f} w={np.round(w, 2).tolist()}")

pbar = tqdm(total=1000, unit="B", unit_scale=True)
sent = 0
while sent < 1000:
    chunk = min(int(rng.integers(50, 200)), 1000 - sent)
    sent += chunk
    pbar.update(chunk)
pbar.close()
print("bytes sent:", pbar.n)
