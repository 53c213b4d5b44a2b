import random

import nltk
from nltk.classify import NaiveBayesClassifier, accuracy

female = "anna maria julia emma sofia olivia laura elena clara nina paula eva sara lena mila ida".split()
male = "john peter mark erik hans oscar victor simon robert edward frank martin karl oliver tom kurt".split()


def features(name):
    return {"last": name[-1], "last2": name[-2:], "vowel_end": name[-1] in "aeiou", "length": len(name)}


data = [(features(n), "f") for n in female] + [(features(n), "m") for n in male]
random.seed(42)
random.shuffle(data)
train, test = data[:24], data[24:]
clf = NaiveBayesClassifier.train(train)

print("accuracy on held-out:", accuracy(clf, test))
for name in ("petra", "gustav", "amelia", "rolf"):
    p = clf.prob_classify(features(name))
    print(f"{name:8s} {p.max()} {p.prob(p.max()):.2f}")
cm = nltk.ConfusionMatrix([l for _, l in test], [clf.classify(f) for f, _ in test])
print(cm)
