from scipy import stats
import numpy as np

before = np.array([72, 68, 75, 80, 66, 71, 77])
after = np.array([70, 65, 73, 75, 66, 69, 72])
result = stats.ttest_rel(before, after)
print(f"t = {result.statistic:.3f}, p = {result.pvalue:.4f}")
print(stats.pearsonr(before, after).statistic.round(3), stats.shapiro(before).pvalue > 0.05)
print(stats.binomtest(14, 20, 0.5).pvalue.round(4), stats.linregress(before, after).slope.round(3))
