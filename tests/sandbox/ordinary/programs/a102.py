import sympy as sp

M = sp.Matrix([[4, 1, 0], [1, 3, 1], [0, 1, 4]])
print("det:", M.det(), "rank:", M.rank(), "trace:", M.trace())
print("inverse:", M.inv().tolist())
print("charpoly:", M.charpoly(sp.Symbol("lambda")).as_expr())
for val, mult, vecs in sorted(M.eigenvects(), key=lambda e: float(e[0])):
    print(" eigenvalue", val, "x", mult, [list(v) for v in vecs])
P, D = M.diagonalize()
print("diagonalised ok:", sp.simplify(P * D * P.inv() - M) == sp.zeros(3))

t = sp.symbols("t")
R = sp.Matrix([[sp.cos(t), -sp.sin(t)], [sp.sin(t), sp.cos(t)]])
print("orthogonal:", sp.simplify(R.T * R) == sp.eye(2))
print(sp.latex(R))
A = sp.Matrix([[1, 2, 3], [2, 4, 6]])
print("null space:", [list(v) for v in A.nullspace()])
