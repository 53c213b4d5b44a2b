import spacy
from spacy.lang.fr import French
from spacy.util import minibatch
nlp = French(); print([t.text for t in nlp("L'homme d'État")], [t.is_stop for t in nlp("le chat")], nlp.pipe_names, list(map(len, minibatch(range(5), 2)))); docs = list(nlp.pipe(["un", "deux"], n_process=1)); print(len(docs), docs[0].to_json()["text"], nlp.vocab.strings["un"] > 0)
