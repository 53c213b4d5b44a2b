import numpy as np

rng = np.random.default_rng(2023)
A = rng.normal(size=(6, 6))
b = rng.normal(size=6)

x = np.linalg.solve(A, b)
print("residual small:", bool(np.linalg.norm(A @ x - b) < 1e-10))

U, s, Vt = np.linalg.svd(A)
print("singular values:", np.round(s, 3))
print("condition number: %.2f" % np.linalg.cond(A))
Q, R = np.linalg.qr(A)
print("Q orthogonal:", np.allclose(Q.T @ Q, np.eye(6)), "R upper:", np.allclose(R, np.triu(R)))

S = A @ A.T
w = np.linalg.eigvalsh(S)
print("eigenvalues of AA^T:", np.round(w, 3))
L = np.linalg.cholesky(S)
print("log det: %.4f" % (2 * np.log(np.diag(L)).sum()))
