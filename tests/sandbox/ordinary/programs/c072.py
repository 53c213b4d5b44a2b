import duckdb
con = duckdb.connect(config={"threads": 2, "memory_limit": "200MB"})
con.execute("set temp_directory='spill'")
print(con.execute("select count(distinct i % 1000) from range(200000) t(i)").fetchall()[0])
print(con.execute("select current_setting('threads')").fetchall()[0])
