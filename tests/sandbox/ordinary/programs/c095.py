from nltk import CFG, ChartParser
g = CFG.fromstring("S -> NP VP\nNP -> 'she' | 'fish'\nVP -> V NP\nV -> 'eats'")
for tree in ChartParser(g).parse("she eats fish".split()): print(tree)
