import nltk
from nltk import CFG
from nltk.parse import ChartParser

grammar = CFG.fromstring("""
S -> NP VP
NP -> Det N | Det N PP | 'I'
VP -> V NP | VP PP
PP -> P NP
Det -> 'an' | 'my' | 'the'
N -> 'elephant' | 'pajamas' | 'park'
V -> 'shot' | 'saw'
P -> 'in'
""")
parser = ChartParser(grammar)
for sentence in ["I saw the elephant", "I shot an elephant in my pajamas"]:
    trees = sorted(parser.parse(sentence.split()), key=str)
    print(f"{sentence!r}: {len(trees)} parse(s)")
    for t in trees:
        print("  ", t.pformat(margin=200))
        print("   height", t.height(), "leaves", len(t.leaves()))

t = nltk.Tree.fromstring("(S (NP (D the) (N dog)) (VP (V barked)))")
t.pretty_print()
print([str(p) for p in t.productions()][:3])
