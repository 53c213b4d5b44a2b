import re

password_rules = {"length": r".{8,}", "digit": r"\d", "upper": r"[A-Z]", "special": r"[^\w\s]"}
for password in ("secret", "Secret123", "S3cret!pass"):
    missing = [name for name, rule in password_rules.items() if not re.search(rule, password)]
    print(password, "->", "fine" if not missing else "needs " + ", ".join(missing))
