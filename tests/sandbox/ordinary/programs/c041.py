from scipy import signal
import numpy as np
b, a = signal.butter(3, 0.2)
x = np.sin(np.linspace(0, 10, 200))
y = signal.filtfilt(b, a, x)
print(y.shape, signal.find_peaks(x)[0].tolist())
