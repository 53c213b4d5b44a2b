import spacy

nlp = spacy.blank("en")
nlp.add_pipe("sentencizer")
doc = nlp("Ann moved to Paris. She has lived there for 3 years, hasn't she?")
print([sentence.text for sentence in doc.sents])
print([token.text for token in doc if token.like_num or token.is_punct], len(doc))
matcher = spacy.matcher.Matcher(nlp.vocab)
matcher.add("YEARS", [[{"LIKE_NUM": True}, {"LOWER": "years"}]])
print([doc[start:end].text for _, start, end in matcher(doc)])
