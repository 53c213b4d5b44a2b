from nltk.stem import PorterStemmer
from nltk.tokenize import RegexpTokenizer
from nltk.util import ngrams
from nltk import FreqDist, edit_distance

text = "The runners were running while the runner ran easily past other runs."
tokens = [word.lower() for word in RegexpTokenizer(r"\w+").tokenize(text)]
stemmer = PorterStemmer()
print([stemmer.stem(word) for word in tokens])
print(FreqDist(tokens).most_common(1), list(ngrams(tokens[:4], 2)), edit_distance("colour", "color"))
