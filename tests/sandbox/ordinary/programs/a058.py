import polars as pl

df = pl.DataFrame({
    "student": ["A", "A", "B", "B", "C", "C"],
    "subject": ["math", "art", "math", "art", "math", "art"],
    "score": [88, 92, 71, 65, 54, 80],
})

wide = df.pivot(on="subject", index="student", values="score")
print(wide)

long = wide.unpivot(index="student", variable_name="subject", value_name="score")
graded = long.with_columns(
    pl.when(pl.col("score") >= 85).then(pl.lit("high"))
    .when(pl.col("score") >= 70).then(pl.lit("mid"))
    .otherwise(pl.lit("low")).alias("grade")
)
print(graded.group_by("grade").agg(pl.col("student").sort()).sort("grade"))
print(graded.select(pl.col("score").mean().alias("mean"), pl.col("score").std().round(3).alias("sd")).row(0, named=True))
