words = ["level", "python", "noon", "Racecar", "teacher"]
print([word for word in words if word.lower() == word.lower()[::-1]])
print({len(word): word for word in sorted(words)})
