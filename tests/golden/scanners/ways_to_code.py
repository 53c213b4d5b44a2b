"""Text that becomes code, and walks to what runs it."""
import builtins, ctypes, importlib, marshal, pickle, types

exec("open('/etc/passwd')")
eval(compile("__import__('os').remove('/etc/hosts')", "<s>", "eval"))
exec(input())
exec(marshal.loads(b"\xe3\x00"))
pickle.loads(b"cos\nsystem\n(S'cat /etc/shadow'\ntR.")
pickle.loads(given)
ctypes.CDLL("libc.so.6").system(b"id")
importlib.import_module("o" + "s").kill(1, 9)
().__class__.__base__.__subclasses__()
(lambda: 0).__globals__
getattr(builtins, "ev" + "al")("open('/root/x')")
types.FunctionType(code, {})
eval("1 + 1")
