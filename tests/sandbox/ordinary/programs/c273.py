from scipy import stats
import numpy as np
rng = np.random.default_rng(1); x = rng.gamma(2, size=300); print(stats.kstest(x, "gamma", stats.gamma.fit(x, floc=0)).pvalue > 0.05, stats.spearmanr([1, 2, 3], [1, 3, 2])[0], stats.chi2_contingency([[10, 20], [20, 10]])[1].round(4), stats.norm.ppf(0.975).round(3), stats.mannwhitneyu([1, 2], [3, 4]).statistic, stats.bootstrap((x,), np.mean, n_resamples=200, random_state=0).standard_error < 0.2)
