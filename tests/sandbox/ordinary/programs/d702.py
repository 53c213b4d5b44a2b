import re

template = "On {date}, {who} owes {amount:.2f} EUR."
print(template.format(date="2024-05-01", who="Ann", amount=12.5))
text = "Ring 030-1234567 or mail ann@example.com, bob@example.org; see https://example.com/a?b=c."
print(re.findall(r"[\w.]+@[\w.]+\w", text), re.search(r"https?://\S+(?<!\.)", text).group())
print(re.sub(r"\b(\w)(\w*)", lambda m: m[1].upper() + m[2], "the title of a book"), re.split(r"[,;]\s*", "a, b;c"))
print(re.compile(r"""(?P<day>\d+)\.  # day
                     (?P<month>\d+)  # month""", re.X).match("24.12").groupdict())
