import subprocess, shlex, os, signal
p = subprocess.Popen(["sleep", "30"]); p.terminate(); print(p.wait()); print(shlex.split("a 'b c'"), shlex.quote("x y"), shlex.join(["a", "b c"])); r = subprocess.run(["sh", "-c", "cat; echo err >&2"], input=b"in", capture_output=True); print(r.stdout, r.stderr); print(subprocess.getoutput("echo hi"), subprocess.getstatusoutput("false")[0]); print(subprocess.run(["env"], env={"ONLY": "1", "PATH": os.environ["PATH"]}, capture_output=True, text=True).stdout.count("ONLY")); a = subprocess.Popen(["echo", "x"], stdout=-1); b = subprocess.Popen(["tr", "x", "y"], stdin=a.stdout, stdout=-1); print(b.communicate()[0])
try: subprocess.run(["no-such-tool"])
except FileNotFoundError as e: print(e.errno)
try: subprocess.run(["sleep", "5"], timeout=0.05)
except subprocess.TimeoutExpired as e: print("late")
