import numpy as np
from scipy import stats

rng = np.random.default_rng(314)
a = rng.normal(10.0, 2.0, 60)
b = rng.normal(11.0, 2.5, 55)
c = rng.normal(10.2, 2.0, 50)

tests = {
    "Shapiro a": stats.shapiro(a),
    "Levene": stats.levene(a, b),
    "Welch t": stats.ttest_ind(a, b, equal_var=False),
    "Mann-Whitney": stats.mannwhitneyu(a, b),
    "KS": stats.ks_2samp(a, b),
    "ANOVA": stats.f_oneway(a, b, c),
    "Kruskal": stats.kruskal(a, b, c),
}
print(f"{'test':<14}{'statistic':>12}{'p-value':>10}")
for name, res in tests.items():
    flag = "*" if res.pvalue < 0.05 else ""
    print(f"{name:<14}{res.statistic:12.4f}{res.pvalue:10.4f} {flag}")

ci = stats.t.interval(0.95, len(a) - 1, loc=a.mean(), scale=stats.sem(a))
print("95%% CI for mean of a: (%.3f, %.3f)" % ci)
table = [[30, 10], [18, 22]]
chi2, p, dof, _ = stats.chi2_contingency(table)
print(f"chi2={chi2:.3f} dof={dof} p={p:.4f}")
