from sklearn.experimental import enable_iterative_imputer
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
import numpy as np
X = np.array([[1, 2.0], [np.nan, 4], [5, np.nan], [7, 8]]); print(SimpleImputer().fit_transform(X).round(2).tolist(), KNNImputer(n_neighbors=1).fit_transform(X).tolist(), IterativeImputer(random_state=0).fit_transform(X).shape)
