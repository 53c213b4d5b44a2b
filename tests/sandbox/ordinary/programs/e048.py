paragraph = "It was the best of times, it was the worst of times."
vowels = {v: paragraph.lower().count(v) for v in "aeiou"}
print(vowels, max(paragraph.split(), key=len), len(paragraph.split()))
print(" ".join(word[::-1] for word in paragraph.rstrip(".").split()))
