import statsmodels.api as sm
d = sm.datasets.longley.load_pandas()
print(d.data.shape)
import matplotlib.pyplot as plt
sm.qqplot(d.endog, line="s").savefig("qq.png")
print(sm.Logit([0, 1, 0, 1, 1], sm.add_constant([1, 2, 3, 4, 5.0])).fit(disp=0).params.shape)
