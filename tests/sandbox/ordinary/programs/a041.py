import numpy as np
from scipy import signal
from scipy.fft import rfft, rfftfreq
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

fs = 500
t = np.arange(0, 2, 1 / fs)
rng = np.random.default_rng(2)
x = np.sin(2 * np.pi * 7 * t) + 0.5 * np.sin(2 * np.pi * 50 * t) + 0.2 * rng.standard_normal(t.size)

b, a = signal.butter(4, 15, btype="low", fs=fs)
y = signal.filtfilt(b, a, x)


def dominant(sig, k=2):
    spec = np.abs(rfft(sig))
    freqs = rfftfreq(sig.size, 1 / fs)
    top = np.argsort(spec)[::-1][:k]
    return [(float(freqs[i]), round(float(spec[i]), 1)) for i in top]


print("before:", dominant(x))
print("after: ", dominant(y, 1))
peaks, _ = signal.find_peaks(y, height=0.5, distance=fs // 10)
print("peaks found:", len(peaks))

plt.plot(t, x, lw=0.5, alpha=0.5)
plt.plot(t, y, lw=2)
plt.xlim(0, 1)
plt.savefig("filtered.png")
