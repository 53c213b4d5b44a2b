import spacy
from spacy.matcher import Matcher, PhraseMatcher
nlp = spacy.blank("de")
m = Matcher(nlp.vocab); m.add("N", [[{"LIKE_NUM": True}, {"LOWER": "euro"}]])
d = nlp("Das kostet 20 Euro und 5 Euro Versand")
print([d[a:b].text for _, a, b in m(d)])
