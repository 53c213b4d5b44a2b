import nltk
from nltk.chunk import RegexpParser
from nltk.lm import MLE
from nltk.lm.preprocessing import padded_everygram_pipeline
from nltk.tokenize import regexp_tokenize

try:
    nltk.data.find("tokenizers/no_such_model")
    tokenize = nltk.word_tokenize
except LookupError:
    def tokenize(s):
        return regexp_tokenize(s, r"\w+|[^\w\s]")

print(tokenize("Dr. Smith didn't pay $3.50, did he?"))

tagged = [("the", "DT"), ("quick", "JJ"), ("fox", "NN"), ("jumped", "VBD"), ("over", "IN"), ("a", "DT"), ("lazy", "JJ"), ("dog", "NN")]
tree = RegexpParser("NP: {<DT>?<JJ>*<NN>}").parse(tagged)
print([" ".join(w for w, _ in st.leaves()) for st in tree.subtrees(lambda t: t.label() == "NP")])

corpus = [s.split() for s in ["i like green tea", "i like black coffee", "you like green apples"]]
train, vocab = padded_everygram_pipeline(2, corpus)
lm = MLE(2)
lm.fit(train, vocab)
print("P(green|like) = %.3f" % lm.score("green", ["like"]))
print("P(tea|green) = %.3f" % lm.score("tea", ["green"]))
print("generated:", lm.generate(5, text_seed=["<s>"], random_seed=3))
