import numpy as np

image = np.zeros((6, 8), dtype=np.uint8)
image[1:5, 2:6] = 200
kernel = np.ones((3, 3)) / 9
padded = np.pad(image.astype(float), 1)
blurred = sum(padded[r:r + 6, c:c + 8] * kernel[r, c] for r in range(3) for c in range(3))
print(blurred.round().astype(int))
print(image.mean(), blurred.max().round(2), np.unravel_index(blurred.argmax(), blurred.shape))
