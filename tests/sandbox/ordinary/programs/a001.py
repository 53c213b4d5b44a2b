import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import os

t = np.linspace(0, 10, 500)
y = np.exp(-0.3 * t) * np.cos(2 * np.pi * t)
envelope = np.exp(-0.3 * t)

fig, ax = plt.subplots(figsize=(8, 4))
ax.plot(t, y, label="signal", color="tab:blue")
ax.plot(t, envelope, "--", color="gray", label="envelope")
ax.plot(t, -envelope, "--", color="gray")
ax.set_xlabel("time (s)")
ax.set_ylabel("amplitude")
ax.set_title("Damped oscillation")
ax.legend(loc="upper right")
ax.grid(alpha=0.3)
fig.tight_layout()
fig.savefig("damped.png", dpi=120)
plt.close(fig)

print("saved damped.png:", os.path.exists("damped.png"))
print(f"max={y.max():.4f} min={y.min():.4f}")
