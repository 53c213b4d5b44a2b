from scipy import ndimage, interpolate, spatial, fft
import numpy as np
print(ndimage.gaussian_filter(np.eye(5), 1).sum().round(4))
print(interpolate.CubicSpline([0, 1, 2], [0, 1, 4])(1.5))
print(spatial.KDTree([[0, 0], [1, 1], [5, 5]]).query([4, 4])[1])
print(fft.fft([1, 0, 0, 0], workers=2).real.tolist())
