import numpy as np
from scipy import ndimage
from scipy.interpolate import CubicSpline, RegularGridInterpolator
from scipy.io import wavfile, savemat, loadmat

x = np.arange(0, 10, 1.5)
cs = CubicSpline(x, np.sin(x))
q = np.array([1.0, 2.0, 5.0])
print("spline error:", np.round(np.abs(cs(q) - np.sin(q)), 4).tolist())

gx, gy = np.arange(5), np.arange(4)
f = RegularGridInterpolator((gx, gy), np.add.outer(gx * 2.0, gy * 3.0))
print("grid value:", float(f([[1.5, 2.25]])[0]))

img = np.zeros((40, 40))
img[5:12, 5:12] = 1
img[20:35, 25:30] = 1
blurred = ndimage.gaussian_filter(img, 1)
lab, count = ndimage.label(blurred > 0.5)
print("objects:", count, "sizes:", ndimage.sum(img, lab, range(1, count + 1)).astype(int).tolist())

rate = 8000
tone = (np.sin(2 * np.pi * 440 * np.arange(rate) / rate) * 32767 * 0.5).astype(np.int16)
wavfile.write("a440.wav", rate, tone)
r, back = wavfile.read("a440.wav")
print("wav:", r, back.dtype, back.shape, bool((back == tone).all()))
savemat("vars.mat", {"lab": lab})
print("mat shape:", loadmat("vars.mat")["lab"].shape)
