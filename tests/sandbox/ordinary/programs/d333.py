from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.metrics.pairwise import cosine_similarity

mails = ["win money now", "cheap money offer", "meeting at noon", "lunch at noon tomorrow"]
vectors = CountVectorizer().fit(mails)
model = MultinomialNB().fit(vectors.transform(mails), ["spam", "spam", "ham", "ham"])
print(model.predict(vectors.transform(["money offer now", "noon meeting"])), len(vectors.vocabulary_))
print(cosine_similarity(TfidfVectorizer().fit_transform(mails)).round(2)[0].tolist())
