WITH monthly AS (
  SELECT date_trunc('month', paid_at) AS month, SUM(amount) AS total FROM payments GROUP BY 1
)
SELECT month, total, total - LAG(total) OVER (ORDER BY month) AS change FROM monthly ORDER BY month;
