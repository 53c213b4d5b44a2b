import duckdb
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

con = duckdb.connect()
con.execute("SET threads TO 2")
con.execute("""
    CREATE TABLE activity AS
    SELECT u AS user_id, 1 + u % 4 AS cohort, m AS month
    FROM range(1, 201) a(u), range(1, 9) b(m)
    WHERE m >= 1 + u % 4 AND (m = 1 + u % 4 OR hash(u * 100 + m) % 100 < 80 - 9 * (m - 1 - u % 4))
""")
pivot = con.execute("""
    SELECT cohort, month - cohort AS age, COUNT(DISTINCT user_id) AS active
    FROM activity GROUP BY 1, 2 ORDER BY 1, 2
""").df().pivot(index="cohort", columns="age", values="active")
retention = pivot.div(pivot[0], axis=0)

fig, ax = plt.subplots()
for cohort, row in retention.iterrows():
    ax.plot(row.index, row.values * 100, marker="o", label=f"cohort {cohort}")
ax.set(xlabel="months since signup", ylabel="% active")
ax.legend()
fig.savefig("retention.png")
print((retention * 100).round(0).to_string(na_rep="-"))
