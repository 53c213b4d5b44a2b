import contextlib
import io


@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name
    except ZeroDivisionError:
        print("(division trouble)")
    finally:
        print(f"</{name}>")


with contextlib.ExitStack() as stack:
    names = [stack.enter_context(tag(n)) for n in ("a", "b")]
    stack.callback(print, "callback first")
    print(names)
with tag("c"):
    1 / 0
with contextlib.suppress(FileNotFoundError):
    open("no-such-file.txt")
buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("hidden")
print("captured:", buffer.getvalue().strip())
with contextlib.closing(io.BytesIO(b"x")) as fh:
    fh.read()
print("closed:", fh.closed)
