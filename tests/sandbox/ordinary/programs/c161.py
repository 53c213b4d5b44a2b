import ctypes, ctypes.util
libc = ctypes.CDLL(None); print(libc.strlen(b"hello"), ctypes.util.find_library("m") is not None)
libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6"); libm.cos.restype = ctypes.c_double; print(libm.cos(ctypes.c_double(0)))
