from nltk import FreqDist, bigrams, ngrams
from nltk.metrics import edit_distance, jaccard_distance
t = "the cat sat on the mat the end".split()
print(FreqDist(t).most_common(1), list(bigrams(t))[:2], edit_distance("kitten", "sitting"))
