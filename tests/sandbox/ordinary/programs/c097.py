import nltk
try:
    from nltk.corpus import stopwords
    print(len(stopwords.words("english")) > 0)
except LookupError:
    print("stopwords are missing")
