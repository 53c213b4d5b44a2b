import difflib

old = """def greet(name):
    print("Hello " + name)

greet("World")
""".splitlines()
new = """def greet(name, punct="!"):
    print(f"Hello {name}{punct}")

greet("World")
greet("Moon")
""".splitlines()
for line in difflib.unified_diff(old, new, "old.py", "new.py", lineterm=""):
    print(line)
print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]))
matcher = difflib.SequenceMatcher(None, "private thread", "private volatile thread")
print(round(matcher.ratio(), 3))
for tag, i1, i2, j1, j2 in matcher.get_opcodes():
    print(tag, i1, i2, j1, j2)
print("\n".join(difflib.ndiff(["one"], ["ore"])).rstrip())
