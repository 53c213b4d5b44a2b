from nltk.metrics import edit_distance, jaccard_distance, precision, recall
from nltk.stem import LancasterStemmer, PorterStemmer, SnowballStemmer
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu

ref = "the cat is sitting on the mat".split()
hyps = ["the cat sits on the mat", "a dog is on the mat", "the cat is sitting on the mat"]
smooth = SmoothingFunction().method1
for h in hyps:
    print(f"BLEU {sentence_bleu([ref], h.split(), smoothing_function=smooth):.3f}  {h}")
print("corpus: %.3f" % corpus_bleu([[ref]] * 3, [h.split() for h in hyps], smoothing_function=smooth))

vocab = ["banana", "bandana", "cabana", "havana", "ban"]
for typo in ("bananna", "hvana"):
    print(typo, "->", min(vocab, key=lambda w: (edit_distance(typo, w), w)))

a, b = set("night"), set("nacht")
print("jaccard: %.3f" % jaccard_distance(a, b), "P/R:", round(precision(a, b), 2), round(recall(a, b), 2))
for w in ("running", "flies", "happiness", "organization"):
    print(w, PorterStemmer().stem(w), SnowballStemmer("english").stem(w), LancasterStemmer().stem(w))
