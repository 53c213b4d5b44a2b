import duckdb
con = duckdb.connect()
con.execute("create table e(ts timestamp, u varchar)")
con.execute("insert into e values ('2024-01-01 10:00', 'a'), ('2024-01-01 10:20', 'a'), ('2024-01-01 12:00', 'b')")
print(con.execute("select date_trunc('hour', ts) h, count(*) from e group by h order by h").fetchall())
con.execute("export database 'dump' (format csv)")
import os
print(sorted(os.listdir("dump")))
