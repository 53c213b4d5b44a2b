import joblib
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import Ridge
import numpy as np
X = np.arange(20).reshape(10, 2); y = X @ [1, 2]
p = make_pipeline(StandardScaler(), Ridge(0.01)).fit(X, y)
joblib.dump(p, "model.joblib", compress=3)
q = joblib.load("model.joblib")
print(np.allclose(p.predict(X), q.predict(X)))
