import numpy as np
from scipy.io import wavfile, savemat, loadmat
wavfile.write("tone.wav", 8000, (np.sin(np.arange(8000) / 10) * 3000).astype(np.int16))
rate, data = wavfile.read("tone.wav")
print(rate, data.shape)
savemat("d.mat", {"a": np.eye(2)})
print(loadmat("d.mat")["a"])
