from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

train = [
    ("refund my order please", "billing"), ("I was charged twice", "billing"),
    ("invoice is wrong", "billing"), ("credit card payment failed", "billing"),
    ("app crashes on startup", "bug"), ("error 500 when I save", "bug"),
    ("page does not load", "bug"), ("button does nothing and crashes", "bug"),
    ("how do I change my password", "account"), ("cannot log in to my account", "account"),
    ("delete my account", "account"), ("update email address", "account"),
]
texts, labels = zip(*train)

model = Pipeline([
    ("tfidf", TfidfVectorizer(ngram_range=(1, 2), stop_words="english")),
    ("nb", MultinomialNB(alpha=0.1)),
])
model.fit(texts, labels)

tickets = ["payment was charged wrong", "the app crashes when loading", "reset password for account"]
for t, label, p in zip(tickets, model.predict(tickets), model.predict_proba(tickets)):
    print(f"{t!r:40} -> {label} ({p.max():.2f})")
print("vocabulary size:", len(model["tfidf"].vocabulary_))
