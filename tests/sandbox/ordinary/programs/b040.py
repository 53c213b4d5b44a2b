import os
import pathlib
import subprocess
import tempfile

env = dict(
    os.environ,
    GIT_AUTHOR_DATE="2021-05-04T10:00:00+0000",
    GIT_COMMITTER_DATE="2021-05-04T10:00:00+0000",
)


def git(*args, cwd):
    cmd = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com", *args]
    return subprocess.run(cmd, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as repo:
    git("init", "-q", "-b", "main", cwd=repo)
    readme = pathlib.Path(repo) / "README.md"
    for n, line in enumerate(["# Title", "First paragraph.", "Second paragraph."]):
        with readme.open("a") as fh:
            fh.write(line + "\n")
        git("add", ".", cwd=repo)
        git("commit", "-q", "-m", f"step {n}", cwd=repo)
    print(git("log", "--format=%s by %an on %as", cwd=repo), end="")
    print(git("diff", "--stat", "HEAD~2", cwd=repo), end="")
    print("clean:", git("status", "--porcelain", cwd=repo) == "")
