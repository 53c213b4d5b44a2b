import shutil, os, pathlib
pathlib.Path("d/e").mkdir(parents=True); pathlib.Path("d/e/f.txt").write_text("x")
shutil.copytree("d", "d2", ignore=shutil.ignore_patterns("*.tmp")); shutil.move("d2/e/f.txt", "moved.txt")
print(shutil.make_archive("arch", "gztar", "d"), shutil.which("sh") is not None) if False else print(os.path.basename(shutil.make_archive("arch", "zip", "d")), shutil.which("sh") is not None)
os.chmod("moved.txt", 0o640); shutil.copy2("moved.txt", "c.txt"); print(oct(os.stat("c.txt").st_mode)[-3:], shutil.disk_usage(".").total > 0)
shutil.rmtree("d"); print(sorted(os.listdir()))
