import pathlib
import subprocess
import tempfile

with tempfile.TemporaryDirectory() as folder:
    for name in ["b.txt", "a.txt", "c.md"]:
        (pathlib.Path(folder) / name).write_text(name + "\n")
    out = subprocess.run(["ls", folder], capture_output=True, text=True, check=True)
    print(out.stdout.split())
    out = subprocess.run("cat *.txt | sort -r", shell=True, cwd=folder, capture_output=True, text=True)
    print(out.stdout.split())
    print(subprocess.check_output(["echo", "hello", "world"], text=True).strip())
    try:
        subprocess.run(["ls", "missing-file"], cwd=folder, check=True, capture_output=True)
    except subprocess.CalledProcessError as exc:
        print("failed with", exc.returncode, "and stderr:", bool(exc.stderr))
    try:
        subprocess.run(["sleep", "30"], timeout=0.1)
    except subprocess.TimeoutExpired as exc:
        print("timed out:", exc.cmd)
