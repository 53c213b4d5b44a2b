import csv
import os
import random

import duckdb

random.seed(20)
with open("trips.csv", "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["trip_id", "start_station", "minutes", "member"])
    for i in range(1000):
        w.writerow([i, random.choice("ABCDE"), round(random.uniform(2, 60), 1), random.random() < 0.7])

duckdb.sql("COPY (SELECT * FROM read_csv_auto('trips.csv')) TO 'trips.parquet' (FORMAT PARQUET, COMPRESSION ZSTD)")
print("parquet written:", os.path.getsize("trips.parquet") > 0)

print(duckdb.sql("DESCRIBE SELECT * FROM 'trips.parquet'").fetchall())
q = """
    SELECT start_station, count(*) AS trips, round(avg(minutes), 2) AS avg_min,
           sum(CASE WHEN member THEN 1 ELSE 0 END) AS members
    FROM 'trips.parquet' GROUP BY start_station ORDER BY start_station
"""
for station, trips, avg_min, members in duckdb.sql(q).fetchall():
    print(f"{station}: {trips:4d} trips, {avg_min:6.2f} min, {members / trips:.0%} members")
