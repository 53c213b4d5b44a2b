import duckdb
con = duckdb.connect("shop.db")
con.execute("create table t (id integer primary key, v double)")
con.executemany("insert into t values (?, ?)", [(i, i / 2) for i in range(5)])
con.close()
con = duckdb.connect("shop.db", read_only=True)
print(con.execute("select sum(v) from t").fetchall()[0])
