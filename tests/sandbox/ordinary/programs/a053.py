import polars as pl

orders = pl.DataFrame({
    "order_id": range(1, 11),
    "customer": ["ann", "bob", "ann", "cat", "bob", "ann", "dan", "cat", "cat", "bob"],
    "amount": [20.0, 35.5, 12.0, 99.9, 5.0, 64.0, 42.0, 18.5, 77.0, 23.0],
    "status": ["paid", "paid", "refunded", "paid", "paid", "paid", "pending", "paid", "refunded", "paid"],
})

result = (
    orders.lazy()
    .filter(pl.col("status") == "paid")
    .group_by("customer")
    .agg(
        pl.len().alias("n"),
        pl.col("amount").sum().round(2).alias("total"),
        pl.col("amount").max().alias("largest"),
    )
    .sort("total", descending=True)
    .collect()
)
print(result)
print(result.to_dicts())
