import locale
import unicodedata

names = ["Zoë", "Ángel", "Émile", "anna", "Øyvind", "Zeno"]


def key(name):
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).casefold()


print(sorted(names, key=key))
print([unicodedata.name(c) for c in "é€"], len("é".encode()), "ﬁ".upper())
print(locale.getlocale(locale.LC_NUMERIC))
