import contextlib, io, sys
buf = io.StringIO()
with contextlib.redirect_stdout(buf): print("hidden")
with contextlib.suppress(KeyError): {}["x"]
@contextlib.contextmanager
def tag(n):
    print(f"<{n}>")
    try: yield
    finally: print(f"</{n}>")
with contextlib.ExitStack() as s: s.enter_context(tag("a")); s.enter_context(tag("b")); print(buf.getvalue().strip())
with contextlib.chdir("/"): pass
sys.stderr.write("warn\n"); sys.stdout.flush(); print(sys.version_info >= (3, 11), sys.argv[1:], sys.maxsize > 2**32)
