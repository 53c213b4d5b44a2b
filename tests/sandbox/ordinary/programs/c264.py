import numpy.testing as npt, numpy as np, numpy.f2py, numpy.ctypeslib
npt.assert_allclose([1.0], [1.0 + 1e-9]); print(np.array2string(np.pi * np.ones(2), precision=2), np.info is not None, np.frombuffer(b"\x01\x02", np.uint8).tolist(), np.loadtxt(["1 2", "3 4"]).shape, np.savez_compressed("z.npz", a=1), dict(np.load("z.npz"))["a"])
