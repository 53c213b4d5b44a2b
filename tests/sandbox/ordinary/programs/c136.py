import sys, subprocess
print(subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode in (0, 1))
print(subprocess.run([sys.executable, "-m", "timeit", "-n", "10", "1+1"], capture_output=True, text=True).returncode)
print(subprocess.run([sys.executable, "-m", "py_compile", "missing.py"], capture_output=True).returncode)
