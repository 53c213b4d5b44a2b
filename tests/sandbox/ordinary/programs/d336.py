import numpy as np

a = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
values, vectors = np.linalg.eigh(a)
print(values.round(4), np.allclose(vectors @ np.diag(values) @ vectors.T, a))
print(np.linalg.det(a).round(6), np.linalg.cholesky(a).round(3).tolist()[1], np.linalg.matrix_rank(a))
x, *_ = np.linalg.lstsq(np.c_[np.ones(4), np.arange(4)], np.array([1.0, 3, 5, 7]), rcond=None)
print(x.round(6), np.trace(a), np.kron([1, 2], [1, 1]), np.linalg.norm(a).round(4))
