import os
os.mkfifo("pipe") if hasattr(os, "mkfifo") else None
if os.fork() == 0:
    with open("pipe", "w") as f: f.write("through\n")
    os._exit(0)
print(open("pipe").read().strip()); os.wait()
os.symlink("pipe", "l"); print(os.path.islink("l"), os.lstat("l").st_size); os.truncate(os.open("t", os.O_CREAT | os.O_RDWR), 100); print(os.path.getsize("t"))
