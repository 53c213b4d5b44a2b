import subprocess

done = subprocess.run(["sort", "-u"], input="pear\napple\npear\nfig\n", capture_output=True, text=True, check=True)
print(done.stdout.split())
failed = subprocess.run(["ls", "no-such-file"], capture_output=True, text=True)
print("exit", failed.returncode, "No such file" in failed.stderr)
print(subprocess.check_output("echo $((6 * 7))", shell=True, text=True).strip())
