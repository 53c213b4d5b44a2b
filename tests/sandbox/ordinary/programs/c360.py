import re, collections
text = "The quick brown fox. The lazy dog! A fox?"; w = re.findall(r"\w+", text.lower()); print(collections.Counter(w).most_common(3), re.split(r"[.!?]\s*", text), re.sub(r"(?i)the", "a", text), re.fullmatch(r"(\d+)-(\d+)", "10-20").groups(), [m.start() for m in re.finditer("o", text)])
