# Count words of a text and print a bar chart.
from collections import Counter

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of
foolishness, it was the epoch of belief, it was the epoch of incredulity"""
words = Counter(word.strip(",.").lower() for word in TEXT.split())
for word, count in words.most_common(6):
    print(f"{word:<8}{'█' * count} {count}")
print(len(words), sum(words.values()))
