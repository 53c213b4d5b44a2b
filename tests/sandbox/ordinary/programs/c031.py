from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.cluster import KMeans
docs = ["cats purr", "dogs bark", "cats and dogs", "stocks rise", "stocks fall"]
X = TfidfVectorizer().fit_transform(docs)
km = KMeans(2, n_init=5, random_state=0).fit(X)
print(X.shape, len(set(km.labels_)))
