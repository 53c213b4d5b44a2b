import fileinput
import glob
import fnmatch

for name in ("a.log", "b.log", "c.txt"):
    with open(name, "w") as out:
        out.write(f"first of {name}\nERROR in {name}\n")
with fileinput.input(sorted(glob.glob("*.log"))) as lines:
    for line in lines:
        if "ERROR" in line:
            print(fileinput.filename(), fileinput.filelineno(), line.strip())
with fileinput.input("c.txt", inplace=True) as lines:
    for line in lines:
        print(line.replace("ERROR", "notice"), end="")
print(open("c.txt").read(), fnmatch.filter(["x.py", "y.pyc"], "*.py"))
