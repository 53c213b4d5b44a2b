from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
import io
import os


@contextmanager
def inside(folder):
    os.makedirs(folder, exist_ok=True)
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


with inside("build"):
    open("out.txt", "w").close()
with suppress(FileNotFoundError):
    os.remove("nothing-here.txt")
with ExitStack() as stack, redirect_stdout(io.StringIO()) as captured:
    files = [stack.enter_context(open(f"build/{n}.txt", "w")) for n in range(3)]
    print("hidden")
print(captured.getvalue().strip(), all(f.closed for f in files), sorted(os.listdir("build")))
