import statsmodels.stats.api as sms, statsmodels.stats.power as p
from statsmodels.stats.multicomp import pairwise_tukeyhsd
print(round(p.TTestIndPower().solve_power(0.5, power=0.8, alpha=0.05), 1), pairwise_tukeyhsd([1, 2, 9, 10], list("aabb")).reject.tolist(), [round(v, 2) for v in sms.DescrStatsW([1, 2, 3]).tconfint_mean()])
