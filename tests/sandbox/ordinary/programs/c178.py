import os, time
for root, dirs, files in os.walk("."):
    print(root, len(files))
os.makedirs("logs", exist_ok=True)
fd = os.open("logs/app.pid", os.O_CREAT | os.O_EXCL | os.O_WRONLY); os.write(fd, str(os.getpid()).encode()); os.close(fd)
with os.scandir("logs") as it: print([e.name for e in it if e.is_file(follow_symlinks=False)])
os.rename("logs/app.pid", "logs/old.pid"); os.replace("logs/old.pid", "p"); os.removedirs("logs"); print(os.path.samefile("p", "./p"), os.stat("p").st_nlink)
