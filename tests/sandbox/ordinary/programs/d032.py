import difflib

before = "host = a\nport = 80\ndebug = no\n".splitlines(keepends=True)
after = "host = a\nport = 443\ndebug = no\ntls = yes\n".splitlines(keepends=True)
print("".join(difflib.unified_diff(before, after, "old.conf", "new.conf")), end="")
print(difflib.get_close_matches("colour", ["color", "cool", "count", "collar"], n=2))
print(round(difflib.SequenceMatcher(None, "kitten", "sitting").ratio(), 3))
