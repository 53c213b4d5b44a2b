import polars as pl
df = pl.DataFrame({"a": [1, 2]})
df.write_excel("a.xlsx") if False else df.write_json("a.json")
print(open("a.json").read())
