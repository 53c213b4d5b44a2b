from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.linear_model import LinearRegression
from tempfile import mkdtemp
from shutil import rmtree
cache = mkdtemp()
pipe = Pipeline([("poly", PolynomialFeatures(2)), ("lr", LinearRegression())], memory=cache)
pipe.fit([[1], [2], [3], [4]], [1, 4, 9, 16])
print(pipe.predict([[5]]).round(2))
rmtree(cache)
