import spacy
from spacy.training import Example
import random; random.seed(0); spacy.util.fix_random_seed(0)
nlp = spacy.blank("en"); t = nlp.add_pipe("textcat"); t.add_label("pos"); t.add_label("neg"); ex = [Example.from_dict(nlp.make_doc(x), {"cats": {"pos": float(y), "neg": 1.0 - y}}) for x, y in [("good fun", 1), ("bad mood", 0)]]; nlp.initialize(lambda: ex)
for _ in range(8): nlp.update(ex)
d = nlp("good fun"); print(d.cats["pos"] > d.cats["neg"]); print(spacy.explain("NOUN"))
