import duckdb
import polars as pl
import pyarrow as pa

cities = pl.DataFrame({
    "city": ["Oslo", "Bergen", "Malmö", "Aarhus", "Odense"],
    "country": ["NO", "NO", "SE", "DK", "DK"],
    "pop": [709, 289, 357, 290, 183],
})
countries = pa.table({"code": ["NO", "SE", "DK"], "name": ["Norway", "Sweden", "Denmark"]})

con = duckdb.connect(":memory:")
con.register("cities_v", cities.to_arrow())
con.register("countries_v", countries)

result = con.sql("""
    SELECT n.name, COUNT(*) AS cities, SUM(c.pop) AS total, string_agg(c.city, ', ' ORDER BY c.city) AS list
    FROM cities_v c JOIN countries_v n ON c.country = n.code
    GROUP BY n.name ORDER BY total DESC
""").pl()
print(result)
print("type:", type(result).__module__.split(".")[0], "rows:", result.height)
print(con.execute("SELECT max(pop) FROM cities_v").fetchone()[0])
