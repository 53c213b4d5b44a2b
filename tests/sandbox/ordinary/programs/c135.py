import subprocess, sys
p = subprocess.Popen([sys.executable, "-c", "import sys; [print(l.strip()[::-1]) for l in sys.stdin]"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(p.communicate("abc\ndef\n")[0])
print(subprocess.check_output([sys.executable, "-m", "json.tool", "--compact"], input='{"a": [1, 2]}', text=True))
