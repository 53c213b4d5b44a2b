import spacy
try:
    spacy.load("en_core_web_lg")
except OSError as e:
    print(str(e).split(".")[0][:30])
