from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.datasets import load_wine
X = load_wine().data
print(PCA(2).fit_transform(X).shape)
print(TSNE(2, perplexity=10, random_state=0, max_iter=250).fit_transform(X[:40]).shape)
