import subprocess, pathlib
def git(*a): return subprocess.run(["git", *a], capture_output=True, text=True, check=True).stdout.strip()
git("init", "-q", "-b", "main"); git("config", "user.email", "a@b"); git("config", "user.name", "n"); pathlib.Path("f").write_text("1"); git("add", "-A"); git("commit", "-q", "-m", "first"); print(git("log", "--format=%s"), git("status", "--porcelain"), git("rev-parse", "--abbrev-ref", "HEAD"), git("show", "HEAD:f"))
