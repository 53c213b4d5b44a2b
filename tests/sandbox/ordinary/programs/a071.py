import duckdb

con = duckdb.connect()
con.sql("""
CREATE TABLE logs AS SELECT * FROM (VALUES
  ('2024-01-01 10:00:00'::TIMESTAMP, 'GET /api/users/12 200'),
  ('2024-01-01 11:30:00'::TIMESTAMP, 'GET /api/items/7 404'),
  ('2024-01-02 09:15:00'::TIMESTAMP, 'POST /api/items 201'),
  ('2024-01-02 09:20:00'::TIMESTAMP, 'GET /health 200'),
  ('2024-01-03 23:59:00'::TIMESTAMP, 'DELETE /api/users/3 500')
) t(ts, line)
""")
parsed = """
  SELECT ts::DATE AS day,
         split_part(line, ' ', 1) AS method,
         regexp_extract(line, '/api/(\\w+)', 1) AS resource,
         regexp_extract(line, '(\\d{3})$', 1)::INT AS status
  FROM logs
"""
for row in con.sql(parsed + " ORDER BY ts").fetchall():
    print(row)
con.sql(f"CREATE TABLE p AS {parsed}")
print(con.sql("PIVOT p ON method USING count(*) GROUP BY day ORDER BY day").fetchall())
print(con.execute("SELECT list_sort(list(DISTINCT status)) FROM p").fetchone()[0])
print(con.execute("SELECT {'a': 1, 'b': [1, 2, 3]} AS s").fetchone()[0])
