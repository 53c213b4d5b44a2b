import shlex

for line in ('cp "my file.txt" /tmp/out', "grep -n 'a b' *.py # comment", r"echo a\ b"):
    print(shlex.split(line, comments=True))
print(shlex.join(["echo", "it's", "a b"]), shlex.quote("$HOME"))
