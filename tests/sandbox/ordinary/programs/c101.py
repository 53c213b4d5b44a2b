import spacy
from spacy.tokens import DocBin
nlp = spacy.blank("en"); r = nlp.add_pipe("entity_ruler"); r.add_patterns([{"label": "ORG", "pattern": "Acme"}])
d = nlp("Acme sells to Acme.")
DocBin(docs=[d]).to_disk("d.spacy"); nlp.to_disk("model")
print([(e.text, e.label_) for e in spacy.load("model")("Acme!").ents])
