from nltk.classify import NaiveBayesClassifier
from nltk.sentiment.vader import VaderConstants
c = NaiveBayesClassifier.train([({"l": "a"}, "x"), ({"l": "b"}, "y"), ({"l": "a"}, "x")])
print(c.classify({"l": "a"}), VaderConstants.B_INCR)
