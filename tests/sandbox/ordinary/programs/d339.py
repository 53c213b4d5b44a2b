import polars as pl

left = pl.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"]})
right = pl.DataFrame({"id": [2, 3, 4], "score": [0.5, 0.7, 0.9]})
print(left.join(right, on="id", how="left").sort("id").to_dicts())
print(left.join(right, on="id", how="anti")["name"].to_list(), pl.concat([left, left]).unique().height)
print(right.select(pl.col("score").rolling_mean(2), pl.col("id").cast(pl.String).str.zfill(3)).rows()[2])
print(pl.Series("s", [3, 1, 2]).sort(descending=True).to_list(), left.lazy().filter(pl.col("id") > 1).collect().shape)
