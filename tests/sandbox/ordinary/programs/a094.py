from nltk.probability import FreqDist
from nltk.stem import PorterStemmer
from nltk.tokenize import RegexpTokenizer

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity,
it was the season of Light, it was the season of Darkness, it was the spring of hope,
it was the winter of despair."""

STOP = {"it", "was", "the", "of"}
tokens = [t.lower() for t in RegexpTokenizer(r"\w+").tokenize(TEXT)]
words = [t for t in tokens if t not in STOP]

fd = FreqDist(words)
print("tokens:", len(tokens), "types:", len(set(tokens)))
print("top:", sorted(fd.items(), key=lambda kv: (-kv[1], kv[0]))[:5])
print("hapaxes:", sorted(fd.hapaxes()))

stem = PorterStemmer().stem
print({w: stem(w) for w in sorted(set(words)) if stem(w) != w})
