import nltk
from nltk.tokenize import RegexpTokenizer, wordpunct_tokenize
from nltk.stem import PorterStemmer, SnowballStemmer
print(wordpunct_tokenize("It's 5 o'clock."))
print([PorterStemmer().stem(w) for w in ["running", "flies", "happily"]], SnowballStemmer("german").stem("Häuser"))
