import spacy
nlp = spacy.blank("en")
nlp.add_pipe("sentencizer")
d = nlp("Ann left. Bob stayed, he said.")
print([s.text for s in d.sents], [t.text for t in d][:4])
