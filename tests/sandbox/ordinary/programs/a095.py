from nltk import ConditionalFreqDist, bigrams, ngrams
from nltk.collocations import BigramAssocMeasures, BigramCollocationFinder
from nltk.tokenize import wordpunct_tokenize

doc = (
    "new york is a big city . many people move to new york every year . "
    "san francisco is smaller than new york but rents in san francisco are high . "
    "people in san francisco like coffee and people in new york like bagels ."
)
tokens = [t for t in wordpunct_tokenize(doc) if t.isalpha()]

finder = BigramCollocationFinder.from_words(tokens)
finder.apply_freq_filter(2)
scored = finder.score_ngrams(BigramAssocMeasures().pmi)
for pair, score in sorted(scored, key=lambda x: (-x[1], x[0])):
    print(f"{' '.join(pair):<16}{score:.3f}")

cfd = ConditionalFreqDist(bigrams(tokens))
for w in ("people", "in", "like"):
    print(w, "->", sorted(cfd[w].items()))
tri = list(ngrams(tokens, 3, pad_left=True, left_pad_symbol="<s>"))
print("trigrams:", len(tri), tri[0], tri[-1])
