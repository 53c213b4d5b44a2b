import duckdb
import numpy as np
import pandas as pd

rng = np.random.default_rng(15)
visits = pd.DataFrame({
    "user_id": rng.integers(1, 21, 400),
    "page": rng.choice(["home", "search", "cart", "checkout"], 400, p=[0.4, 0.35, 0.15, 0.1]),
    "seconds": rng.exponential(30, 400).round(1),
})
users = pd.DataFrame({"user_id": range(1, 21), "tier": ["gold" if i % 5 == 0 else "standard" for i in range(1, 21)]})

funnel = duckdb.query("""
    SELECT u.tier, v.page, COUNT(DISTINCT v.user_id) AS users, ROUND(MEDIAN(v.seconds), 1) AS median_s
    FROM visits v JOIN users u USING (user_id)
    GROUP BY 1, 2
    ORDER BY 1, 3 DESC, 2
""").df()
print(funnel.to_string(index=False))

top = duckdb.sql("SELECT user_id, SUM(seconds) s FROM visits GROUP BY user_id ORDER BY s DESC LIMIT 3").df()
print(top)
