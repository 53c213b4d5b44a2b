from scipy import stats
a = [5.1, 4.9, 6.2, 5.8, 6.0]; b = [6.5, 6.9, 7.1, 6.8, 7.3]
t = stats.ttest_ind(a, b)
print(round(t.statistic, 3), round(t.pvalue, 5))
print(stats.linregress([1, 2, 3, 4], [2, 4, 6, 8]).slope)
